package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	transfertypes "github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
)

func awsClient(to target) *s3.Client {
	return s3.New(s3.Options{
		BaseEndpoint:               &to.endpoint,
		Region:                     to.region,
		UsePathStyle:               true,
		Credentials:                credentials.NewStaticCredentialsProvider(to.access, to.secret, ""),
		RetryMaxAttempts:           1,
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenSupported,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenSupported,
	})
}

func awsCode(err error) string {
	var failure smithy.APIError
	if errors.As(err, &failure) {
		return failure.ErrorCode()
	}
	return ""
}

func awsSdk(to target, corrupting string) int {
	scheme, _, _ := strings.Cut(to.endpoint, ":")
	report := &report{client: "aws-sdk-go-v2, " + scheme}
	client, bucket := awsClient(to), aws.String("aws-sdk-go-v2")
	get := func(ctx context.Context, key string, expected []byte) error {
		object, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: bucket, Key: &key, ChecksumMode: types.ChecksumModeEnabled})
		if err != nil {
			return err
		}
		defer object.Body.Close()
		got, err := io.ReadAll(object.Body)
		if err != nil {
			return err
		}
		return same("GET "+key, got, expected)
	}
	absent := func(ctx context.Context, key string) error {
		_, err := client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: bucket, Key: &key})
		return refused(awsCode(err), "NotFound", err)
	}

	report.run("create bucket", func(ctx context.Context) error {
		_, err := client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: bucket})
		return err
	})
	short, parts := random(300_000), random(long)
	// Those that the SDK computes.
	computed := []types.ChecksumAlgorithm{
		types.ChecksumAlgorithmCrc32, types.ChecksumAlgorithmCrc32c, types.ChecksumAlgorithmCrc64nvme,
		types.ChecksumAlgorithmSha1, types.ChecksumAlgorithmSha256,
	}
	for _, algorithm := range computed {
		report.run(string(algorithm)+", PUT and multipart", func(ctx context.Context) error {
			key := string(algorithm) + "/short"
			_, err := client.PutObject(ctx, &s3.PutObjectInput{
				Bucket: bucket, Key: &key, Body: bytes.NewReader(short), ChecksumAlgorithm: algorithm,
			})
			if err != nil {
				return err
			}
			if err := get(ctx, key, short); err != nil {
				return err
			}
			key = string(algorithm) + "/parts"
			manager := transfermanager.New(client, func(options *transfermanager.Options) {
				options.PartSizeBytes = part
				options.MultipartUploadThreshold = part
			})
			_, err = manager.UploadObject(ctx, &transfermanager.UploadObjectInput{
				Bucket: bucket, Key: &key, Body: bytes.NewReader(parts), ChecksumAlgorithm: transfertypes.ChecksumAlgorithm(algorithm),
			})
			if err != nil {
				return err
			}
			return get(ctx, key, parts)
		})
	}
	if scheme == "https" {
		report.run("PUT of a stream", func(ctx context.Context) error {
			length := int64(len(short))
			_, err := client.PutObject(ctx, &s3.PutObjectInput{
				Bucket: bucket, Key: aws.String("stream"), Body: io.MultiReader(bytes.NewReader(short)), ContentLength: &length,
			})
			if err != nil {
				return err
			}
			return get(ctx, "stream", short)
		})
	}
	report.run("copy", func(ctx context.Context) error {
		source := aws.String(*bucket + "/" + url.PathEscape("CRC32/parts"))
		_, err := client.CopyObject(ctx, &s3.CopyObjectInput{Bucket: bucket, Key: aws.String("copy"), CopySource: source})
		if err != nil {
			return err
		}
		return get(ctx, "copy", parts)
	})
	report.run("wrong key", func(ctx context.Context) error {
		other := awsClient(target{to.endpoint, to.access, to.secret + "x", to.region})
		_, err := other.PutObject(ctx, &s3.PutObjectInput{Bucket: bucket, Key: aws.String("wrong"), Body: bytes.NewReader(short)})
		if err := refused(awsCode(err), "SignatureDoesNotMatch", err); err != nil {
			return err
		}
		return absent(ctx, "wrong")
	})
	for _, wrong := range []struct {
		name string
		lie  func(*s3.PutObjectInput)
	}{
		{"Content-MD5", func(put *s3.PutObjectInput) { put.ContentMD5 = aws.String("1B2M2Y8AsgTpgAmY7PhCfg==") }},
		{"CRC32", func(put *s3.PutObjectInput) { put.ChecksumCRC32 = aws.String("AAAAAA==") }},
		{"CRC32C", func(put *s3.PutObjectInput) { put.ChecksumCRC32C = aws.String("AAAAAA==") }},
		{"CRC64NVME", func(put *s3.PutObjectInput) { put.ChecksumCRC64NVME = aws.String("AAAAAAAAAAA=") }},
		{"SHA1", func(put *s3.PutObjectInput) { put.ChecksumSHA1 = aws.String("2jmj7l5rSw0yVb/vlWAYkK/YBwk=") }},
		{"MD5", func(put *s3.PutObjectInput) { put.ChecksumMD5 = aws.String("1B2M2Y8AsgTpgAmY7PhCfg==") }},
		{"XXHASH64", func(put *s3.PutObjectInput) { put.ChecksumXXHASH64 = aws.String("70bbN1HY6Zk=") }},
		{"XXHASH3", func(put *s3.PutObjectInput) { put.ChecksumXXHASH3 = aws.String("LQaABTjTlMI=") }},
		{"XXHASH128", func(put *s3.PutObjectInput) { put.ChecksumXXHASH128 = aws.String("maoG0wFHmNhgAcMkRo1Jfw==") }},
	} {
		report.run("wrong "+wrong.name, func(ctx context.Context) error {
			put := &s3.PutObjectInput{Bucket: bucket, Key: aws.String("wrong"), Body: bytes.NewReader(short)}
			wrong.lie(put)
			_, err := client.PutObject(ctx, put)
			if err := refused(awsCode(err), "BadDigest", err); err != nil {
				return err
			}
			return absent(ctx, "wrong")
		})
	}
	if corrupting != "" {
		report.run("changed on the way", func(ctx context.Context) error {
			other := awsClient(target{corrupting, to.access, to.secret, to.region})
			for _, algorithm := range computed {
				_, err := other.PutObject(ctx, &s3.PutObjectInput{
					Bucket: bucket, Key: aws.String("changed"), Body: bytes.NewReader(marked()), ChecksumAlgorithm: algorithm,
				})
				if err == nil {
					return fmt.Errorf("acknowledged with %s", algorithm)
				}
				if err := absent(ctx, "changed"); err != nil {
					return err
				}
			}
			return nil
		})
	}
	report.run("list and delete", func(ctx context.Context) error {
		pages := s3.NewListObjectsV2Paginator(client, &s3.ListObjectsV2Input{Bucket: bucket, MaxKeys: aws.Int32(3)})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return err
			}
			var keys []types.ObjectIdentifier
			for _, object := range page.Contents {
				keys = append(keys, types.ObjectIdentifier{Key: object.Key})
			}
			done, err := client.DeleteObjects(ctx, &s3.DeleteObjectsInput{Bucket: bucket, Delete: &types.Delete{Objects: keys}})
			if err != nil {
				return err
			}
			if len(done.Deleted) != len(keys) {
				return fmt.Errorf("%d of %d deleted: %v", len(done.Deleted), len(keys), done.Errors)
			}
		}
		return nil
	})
	report.run("delete bucket", func(ctx context.Context) error {
		_, err := client.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: bucket})
		return err
	})
	return report.failed
}
