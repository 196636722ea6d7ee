package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

func minioClient(to target) (*minio.Client, error) {
	endpoint, err := url.Parse(to.endpoint)
	if err != nil {
		return nil, err
	}
	return minio.New(endpoint.Host, &minio.Options{
		Creds:           credentials.NewStaticV4(to.access, to.secret, ""),
		Secure:          endpoint.Scheme == "https",
		Region:          to.region,
		TrailingHeaders: true,
		MaxRetries:      1,
	})
}

func minioCode(err error) string {
	return minio.ToErrorResponse(err).Code
}

func minioGo(to target, corrupting string) int {
	scheme, _, _ := strings.Cut(to.endpoint, ":")
	report := &report{client: "minio-go, " + scheme}
	client, err := minioClient(to)
	if err != nil {
		report.run("client", func(context.Context) error { return err })
		return report.failed
	}
	bucket := "minio-go"
	put := func(ctx context.Context, client *minio.Client, key string, body []byte, how minio.PutObjectOptions) error {
		_, err := client.PutObject(ctx, bucket, key, bytes.NewReader(body), int64(len(body)), how)
		return err
	}
	get := func(ctx context.Context, key string, expected []byte) error {
		object, err := client.GetObject(ctx, bucket, key, minio.GetObjectOptions{Checksum: true})
		if err != nil {
			return err
		}
		defer object.Close()
		got, err := io.ReadAll(object)
		if err != nil {
			return err
		}
		return same("GET "+key, got, expected)
	}
	absent := func(ctx context.Context, key string) error {
		_, err := client.StatObject(ctx, bucket, key, minio.StatObjectOptions{})
		return refused(minioCode(err), "NoSuchKey", err)
	}

	report.run("create bucket", func(ctx context.Context) error {
		return client.MakeBucket(ctx, bucket, minio.MakeBucketOptions{Region: to.region})
	})
	short, parts := random(300_000), random(long)
	report.run("PUT and GET", func(ctx context.Context) error {
		if err := put(ctx, client, "short", short, minio.PutObjectOptions{UserMetadata: map[string]string{"A": "b"}}); err != nil {
			return err
		}
		return get(ctx, "short", short)
	})
	report.run("PUT, Content-MD5", func(ctx context.Context) error {
		if err := put(ctx, client, "md5", short, minio.PutObjectOptions{SendContentMd5: true}); err != nil {
			return err
		}
		return get(ctx, "md5", short)
	})
	for _, checksum := range []struct {
		name string
		kind minio.ChecksumType
	}{
		{"CRC32", minio.ChecksumCRC32},
		{"CRC32C", minio.ChecksumCRC32C},
		{"CRC64NVME", minio.ChecksumCRC64NVME},
		{"SHA1", minio.ChecksumSHA1},
		{"SHA256", minio.ChecksumSHA256},
		{"full CRC32", minio.ChecksumFullObjectCRC32},
		{"full CRC32C", minio.ChecksumFullObjectCRC32C},
	} {
		name, how := checksum.name, minio.PutObjectOptions{Checksum: checksum.kind, PartSize: part}
		report.run(name+", PUT and multipart", func(ctx context.Context) error {
			for key, body := range map[string][]byte{"short": short, "parts": parts} {
				if err := put(ctx, client, name+"/"+key, body, how); err != nil {
					return err
				}
				if err := get(ctx, name+"/"+key, body); err != nil {
					return err
				}
			}
			return nil
		})
	}
	report.run("multipart of unknown length", func(ctx context.Context) error {
		_, err := client.PutObject(ctx, bucket, "stream", io.MultiReader(bytes.NewReader(parts)), -1,
			minio.PutObjectOptions{PartSize: part})
		if err != nil {
			return err
		}
		return get(ctx, "stream", parts)
	})
	report.run("copy and compose", func(ctx context.Context) error {
		source := minio.CopySrcOptions{Bucket: bucket, Object: "stream"}
		if _, err := client.CopyObject(ctx, minio.CopyDestOptions{Bucket: bucket, Object: "copy"}, source); err != nil {
			return err
		}
		if err := get(ctx, "copy", parts); err != nil {
			return err
		}
		destination := minio.CopyDestOptions{Bucket: bucket, Object: "composed"}
		last := minio.CopySrcOptions{Bucket: bucket, Object: "short"}
		if _, err := client.ComposeObject(ctx, destination, source, last); err != nil {
			return err
		}
		return get(ctx, "composed", slices.Concat(parts, short))
	})
	report.run("wrong key", func(ctx context.Context) error {
		other, err := minioClient(target{to.endpoint, to.access, to.secret + "x", to.region})
		if err != nil {
			return err
		}
		err = put(ctx, other, "wrong", short, minio.PutObjectOptions{})
		if err := refused(minioCode(err), "SignatureDoesNotMatch", err); err != nil {
			return err
		}
		return absent(ctx, "wrong")
	})
	report.run("wrong checksum", func(ctx context.Context) error {
		how := minio.PutObjectOptions{UserMetadata: map[string]string{"X-Amz-Checksum-Crc32": "AAAAAA=="}}
		err := put(ctx, client, "wrong", short, how)
		if err := refused(minioCode(err), "BadDigest", err); err != nil {
			return err
		}
		return absent(ctx, "wrong")
	})
	if corrupting != "" {
		report.run("changed on the way", func(ctx context.Context) error {
			other, err := minioClient(target{corrupting, to.access, to.secret, to.region})
			if err != nil {
				return err
			}
			for _, how := range []minio.PutObjectOptions{{}, {SendContentMd5: true}, {Checksum: minio.ChecksumCRC32C}} {
				if err := put(ctx, other, "changed", marked(), how); err == nil {
					return fmt.Errorf("acknowledged with %+v", how)
				}
				if err := absent(ctx, "changed"); err != nil {
					return err
				}
			}
			return nil
		})
	}
	report.run("list and delete", func(ctx context.Context) error {
		keys := 0
		objects := make(chan minio.ObjectInfo)
		var failed error
		go func() {
			defer close(objects)
			for object := range client.ListObjects(ctx, bucket, minio.ListObjectsOptions{Recursive: true, MaxKeys: 3}) {
				if object.Err != nil {
					failed = object.Err
					return
				}
				keys++
				objects <- object
			}
		}()
		for removed := range client.RemoveObjects(ctx, bucket, objects, minio.RemoveObjectsOptions{}) {
			return removed.Err
		}
		if failed == nil && keys != 19 {
			failed = fmt.Errorf("%d objects listed, expected 19", keys)
		}
		return failed
	})
	report.run("delete bucket", func(ctx context.Context) error {
		return client.RemoveBucket(ctx, bucket)
	})
	return report.failed
}
