"""boto3, with awscrt for the checksums that botocore alone does not compute."""

import base64
import contextlib
import io
import os
import urllib.error
import urllib.request
from collections.abc import Iterator

import boto3
import botocore.httpchecksum
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import ClientError
from report import Report, expect
from signing import Keys

# Those that boto3 computes, and what S3 makes of the parts' checksums.
COMPOSITE, FULL = "COMPOSITE", "FULL_OBJECT"
ALGORITHMS = {
    "CRC32": (COMPOSITE, FULL),
    "CRC32C": (COMPOSITE, FULL),
    "CRC64NVME": (FULL,),
    "SHA1": (COMPOSITE,),
    "SHA256": (COMPOSITE,),
    "SHA512": (COMPOSITE,),
    "XXHASH64": (COMPOSITE,),
    "XXHASH3": (COMPOSITE,),
    "XXHASH128": (COMPOSITE,),
}
PART = 5 << 20


def checksum(algorithm: str, data: bytes) -> bytes:
    running = botocore.httpchecksum._CHECKSUM_CLS[algorithm.lower()]()
    running.update(data)
    return running.digest()


def text(value: bytes) -> str:
    return base64.b64encode(value).decode()


@contextlib.contextmanager
def lying(algorithm: str) -> Iterator[None]:
    """While this lasts, botocore computes zeros."""
    classes, name = botocore.httpchecksum._CHECKSUM_CLS, algorithm.lower()
    honest = classes[name]

    class Liar(honest):
        def digest(self):
            return bytes(len(super().digest()))

    classes[name] = Liar
    try:
        yield
    finally:
        classes[name] = honest


@contextlib.contextmanager
def refused(code: str) -> Iterator[None]:
    """What is done in it must be refused with this error."""
    try:
        yield
    except ClientError as error:
        got = error.response["Error"]["Code"]
        expect(got == code, f"expected {code}, got {got}: {error}")
    else:
        expect(False, f"expected {code}, got no error")


class Boto:
    """A client with a bucket of its own."""

    def __init__(self, endpoint: str, keys: Keys, certificate: str | None, bucket: str):
        self.endpoint, self.keys, self.certificate, self.bucket = endpoint, keys, certificate, bucket
        self.s3 = self.client(keys)
        self.report = Report(f"boto3, {endpoint.partition(':')[0]}")

    def client(self, keys: Keys):
        # Without it boto3 presigns as of old.
        version = {"signature_version": "s3v4"}
        config = Config(retries={"total_max_attempts": 1}, s3={"addressing_style": "path"}, **version)
        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            aws_access_key_id=keys.access,
            aws_secret_access_key=keys.secret,
            region_name=keys.region,
            verify=self.certificate,
            config=config,
        )

    def absent(self, key: str) -> None:
        with refused("404"):
            self.s3.head_object(Bucket=self.bucket, Key=key)

    def get(self, key: str, **how) -> bytes:
        return self.s3.get_object(Bucket=self.bucket, Key=key, **how)["Body"].read()

    def run(self) -> Report:
        case, named = self.report.case, {"Bucket": self.bucket}
        case("create bucket", lambda: self.s3.create_bucket(**named))
        for run in (
            self.objects,
            self.keys_of_all_kinds,
            self.ranges,
            self.listing,
            self.copies,
            self.conditions,
            self.transfer,
            self.presigned,
            self.strangers,
            self.content_md5,
        ):
            case(run.__name__.replace("_", " "), run)
        for algorithm, kinds in ALGORITHMS.items():
            case(f"{algorithm}", lambda a=algorithm: self.algorithm(a))
            for kind in kinds:
                case(f"{algorithm}, multipart, {kind}", lambda a=algorithm, k=kind: self.multipart(a, k))
        case("delete all", self.empty)
        case("delete bucket", lambda: self.s3.delete_bucket(**named))
        return self.report

    def objects(self) -> None:
        body = os.urandom(100_000)
        given = {"ContentType": "text/x-test", "CacheControl": "no-store", "ContentLanguage": "ia", "Metadata": {"a": "b c"}}
        self.s3.put_object(Bucket=self.bucket, Key="object", Body=body, **given)
        got = self.s3.get_object(Bucket=self.bucket, Key="object")
        expect(got["Body"].read() == body, "GET gives other bytes")
        expect(all(got[name] == value for name, value in given.items()), f"GET gives {got}")
        self.s3.put_object(Bucket=self.bucket, Key="object", Body=b"")
        expect(self.get("object") == b"", "an empty object is not")
        attributes = self.s3.get_object_attributes(
            Bucket=self.bucket, Key="object", ObjectAttributes=["ETag", "ObjectSize", "Checksum", "StorageClass"]
        )
        expect(attributes["ETag"] == "d41d8cd98f00b204e9800998ecf8427e" and attributes["ObjectSize"] == 0, str(attributes))
        self.s3.delete_object(Bucket=self.bucket, Key="object")
        self.absent("object")
        with refused("NoSuchKey"):
            self.get("object")

    def keys_of_all_kinds(self) -> None:
        keys = ["a b", "a+b", "a%20b", "ü/日本/𝄞", "!*'()", "?&=#", "~", "a//b", "/a", "a/", "a/b", "\\", "x" * 1024]
        for key in keys:
            self.s3.put_object(Bucket=self.bucket, Key=key, Body=key.encode())
        found = [item["Key"] for item in self.s3.list_objects_v2(Bucket=self.bucket)["Contents"]]
        expect(found == sorted(keys, key=str.encode), str(found))
        for key in found:
            expect(self.get(key).decode() == key, key)
        deleted = self.s3.delete_objects(Bucket=self.bucket, Delete={"Objects": [{"Key": key} for key in found]})
        expect(len(deleted["Deleted"]) == len(keys) and not deleted.get("Errors"), str(deleted))

    def ranges(self) -> None:
        body = os.urandom(300_000)
        self.s3.put_object(Bucket=self.bucket, Key="ranges", Body=body)
        for first, last in ((0, 0), (1, 70_000), (131_071, 131_073), (299_999, 299_999), (5, 999_999)):
            expect(self.get("ranges", Range=f"bytes={first}-{last}") == body[first : last + 1], f"{first}-{last}")
        expect(self.get("ranges", Range="bytes=-7") == body[-7:], "the last 7")
        expect(self.get("ranges", Range="bytes=299990-") == body[-10:], "from 299990")
        with refused("InvalidRange"):
            self.get("ranges", Range="bytes=300000-")

    def listing(self) -> None:
        keys = [f"list/{one}/{two}" for one in "abc" for two in range(7)] + ["list/d", "list/e"]
        for key in keys:
            self.s3.put_object(Bucket=self.bucket, Key=key, Body=key.encode())
        for operation in ("list_objects", "list_objects_v2"):
            pages = self.s3.get_paginator(operation).paginate
            flat = pages(Bucket=self.bucket, Prefix="list/", PaginationConfig={"PageSize": 4})
            found = [item["Key"] for page in flat for item in page.get("Contents", [])]
            expect(found == sorted(keys), f"{operation}: {found}")
            folded = list(pages(Bucket=self.bucket, Prefix="list/", Delimiter="/", PaginationConfig={"PageSize": 2}))
            names = [item["Prefix"] for page in folded for item in page.get("CommonPrefixes", [])]
            names += [item["Key"] for page in folded for item in page.get("Contents", [])]
            expect(names == ["list/a/", "list/b/", "list/c/", "list/d", "list/e"], f"{operation}: {names}")
        buckets = [bucket["Name"] for bucket in self.s3.list_buckets()["Buckets"]]
        expect(self.bucket in buckets, f"{buckets}")

    def copies(self) -> None:
        body = os.urandom(200_000)
        self.s3.put_object(Bucket=self.bucket, Key="copy/from", Body=body, ContentType="text/x-a", Metadata={"a": "b"})
        source = {"Bucket": self.bucket, "Key": "copy/from"}
        self.s3.copy_object(Bucket=self.bucket, Key="copy/to", CopySource=source)
        got = self.s3.get_object(Bucket=self.bucket, Key="copy/to")
        expect(got["Body"].read() == body and got["Metadata"] == {"a": "b"} and got["ContentType"] == "text/x-a", str(got))
        how = {"MetadataDirective": "REPLACE", "Metadata": {"c": "d"}}
        self.s3.copy_object(Bucket=self.bucket, Key="copy/to", CopySource=source, **how)
        expect(self.s3.head_object(Bucket=self.bucket, Key="copy/to")["Metadata"] == {"c": "d"}, "metadata not replaced")
        self.s3.delete_object(**source)
        expect(self.get("copy/to") == body, "a copy went with its source")

    def conditions(self) -> None:
        named = {"Bucket": self.bucket, "Key": "conditions"}
        tag = self.s3.put_object(**named, Body=b"one", IfNoneMatch="*")["ETag"]
        with refused("PreconditionFailed"):
            self.s3.put_object(**named, Body=b"two", IfNoneMatch="*")
        with refused("PreconditionFailed"):
            self.s3.put_object(**named, Body=b"two", IfMatch='"d41d8cd98f00b204e9800998ecf8427e"')
        self.s3.put_object(**named, Body=b"two", IfMatch=tag)
        expect(self.get("conditions") == b"two", "If-Match did not write")
        with refused("304"):
            self.s3.get_object(**named, IfNoneMatch=self.s3.head_object(**named)["ETag"])
        with refused("PreconditionFailed"):
            self.s3.get_object(**named, IfMatch=tag)

    def transfer(self) -> None:
        """In parts, several at once, as `upload_file` does, and copied in parts."""
        body = os.urandom(20_000_000)
        how = TransferConfig(multipart_threshold=PART, multipart_chunksize=PART)
        self.s3.upload_fileobj(io.BytesIO(body), self.bucket, "transfer", Config=how)
        into = io.BytesIO()
        self.s3.download_fileobj(self.bucket, "transfer", into, Config=how)
        expect(into.getvalue() == body, "download gives other bytes")
        first = self.s3.get_object(Bucket=self.bucket, Key="transfer", PartNumber=1)
        expect(first["Body"].read() == body[:PART] and first["PartsCount"] == 4, f"part 1: {first}")
        expect(self.s3.head_object(Bucket=self.bucket, Key="transfer")["ETag"].endswith('-4"'), "no ETag of 4 parts")
        self.s3.copy({"Bucket": self.bucket, "Key": "transfer"}, self.bucket, "transferred", Config=how)
        expect(self.get("transferred") == body, "copied in parts gives other bytes")

    def presigned(self) -> None:
        context = None
        if self.certificate:
            import ssl

            context = ssl.create_default_context(cafile=self.certificate)
        named = {"Bucket": self.bucket, "Key": "presigned"}

        def ask(method: str, url: str, data: bytes | None = None):
            return urllib.request.urlopen(urllib.request.Request(url, data, method=method), context=context)

        put = self.s3.generate_presigned_url("put_object", named)
        # Without a header of its own urllib says that it is a form.
        request = urllib.request.Request(put, b"presigned", {"Content-Type": "text/plain"}, method="PUT")
        expect(urllib.request.urlopen(request, context=context).status == 200, "PUT")
        get = self.s3.generate_presigned_url("get_object", named)
        expect(ask("GET", get).read() == b"presigned", "GET")
        for url, method in ((get, "PUT"), (get + "0", "GET"), (get.replace("presigned?", "listed?"), "GET")):
            try:
                ask(method, url, b"other" if method == "PUT" else None)
            except urllib.error.HTTPError as error:
                expect(error.code == 403, f"{method} {url}: {error.code}")
            else:
                expect(False, f"{method} {url} was answered")

    def strangers(self) -> None:
        access, secret, region = self.keys.access, self.keys.secret, self.keys.region
        with refused("SignatureDoesNotMatch"):
            self.client(Keys(access, secret + "x", region)).put_object(Bucket=self.bucket, Key="stranger", Body=b"1")
        with refused("InvalidAccessKeyId"):
            self.client(Keys(access + "X", secret, region)).put_object(Bucket=self.bucket, Key="stranger", Body=b"1")
        self.absent("stranger")

    def content_md5(self) -> None:
        named = {"Bucket": self.bucket, "Key": "md5", "Body": b"hello world"}
        self.s3.put_object(**named, ContentMD5="XrY7u+Ae7tCTyyK7j1rNww==")
        self.s3.delete_object(Bucket=self.bucket, Key="md5")
        with refused("BadDigest"):
            self.s3.put_object(**named, ContentMD5="XrY7u+Ae7tCTyyK7j1rNwg==")
        self.absent("md5")

    def algorithm(self, algorithm: str) -> None:
        """As boto3 sends it: over TLS in a trailer, else in a header. And wrong, both ways."""
        body, field = os.urandom(150_000), f"Checksum{algorithm}"
        named, right = {"Bucket": self.bucket, "Key": f"sum/{algorithm}"}, text(checksum(algorithm, body))
        sent = []
        catch = lambda request, **_: sent.append(request.headers)  # noqa: E731
        self.s3.meta.events.register_last("before-send.s3.PutObject", catch)
        put = self.s3.put_object(**named, Body=body, ChecksumAlgorithm=algorithm)
        self.s3.meta.events.unregister("before-send.s3.PutObject", catch)
        expect(("X-Amz-Trailer" in sent[0]) == (self.certificate is not None), f"sent {dict(sent[0])}")
        expect(put.get(field) == right and put.get("ChecksumType") == FULL, f"PUT gives {put}")
        got = self.s3.get_object(**named, ChecksumMode="ENABLED")
        expect(got["Body"].read() == body and got.get(field) == right, f"GET gives {got}")
        listed = self.s3.list_objects_v2(Bucket=self.bucket, Prefix=named["Key"])["Contents"][0]
        expect(listed.get("ChecksumAlgorithm") == [algorithm], f"the list gives {listed}")
        self.s3.delete_object(**named)
        with refused("BadDigest"):
            self.s3.put_object(**named, Body=body, **{field: text(checksum(algorithm, b""))})
        with lying(algorithm), refused("BadDigest"):
            self.s3.put_object(**named, Body=body, ChecksumAlgorithm=algorithm)
        self.absent(named["Key"])

    def multipart(self, algorithm: str, kind: str) -> None:
        field, named = f"Checksum{algorithm}", {"Bucket": self.bucket, "Key": f"parts/{algorithm}-{kind}"}
        bodies = [bytes([1]) * PART, os.urandom(100_000)]
        started = self.s3.create_multipart_upload(**named, ChecksumAlgorithm=algorithm, ChecksumType=kind)
        upload, parts = {**named, "UploadId": started["UploadId"]}, []
        with lying(algorithm), refused("BadDigest"):
            self.s3.upload_part(**upload, PartNumber=3, Body=bodies[1], ChecksumAlgorithm=algorithm)
        # In any order.
        for number, body in ((2, bodies[1]), (1, bodies[0])):
            part = self.s3.upload_part(**upload, PartNumber=number, Body=body, ChecksumAlgorithm=algorithm)
            expect(part.get(field) == text(checksum(algorithm, body)), f"part {number} gives {part}")
            parts.insert(0, {"PartNumber": number, "ETag": part["ETag"], field: part[field]})
        listed = [part["PartNumber"] for part in self.s3.list_parts(**upload)["Parts"]]
        expect(listed == [1, 2], f"parts {listed}")
        whole = text(checksum(algorithm, b"".join(bodies)))
        if kind == COMPOSITE:
            whole = text(checksum(algorithm, b"".join(checksum(algorithm, body) for body in bodies))) + "-2"
        wrong = [{**part, field: parts[0][field]} for part in parts]
        with refused("InvalidPart"):
            self.s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": wrong})
        other = text(checksum(algorithm, b"")) + ("-2" if kind == COMPOSITE else "")
        with refused("BadDigest"):
            sums = {field: other, "ChecksumType": kind}
            self.s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": parts}, **sums)
        self.absent(named["Key"])
        sums = {field: whole, "ChecksumType": kind}
        done = self.s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": parts}, **sums)
        expect(done.get(field) == whole and done.get("ChecksumType") == kind, f"complete gives {done}, not {whole}")
        head = self.s3.head_object(**named, ChecksumMode="ENABLED")
        expect(head.get(field) == whole and head.get("ChecksumType") == kind, f"HEAD gives {head}")
        expect(self.get(named["Key"], ChecksumMode="ENABLED") == b"".join(bodies), "GET gives other bytes")

    def empty(self) -> None:
        for page in self.s3.get_paginator("list_objects_v2").paginate(Bucket=self.bucket):
            keys = [{"Key": item["Key"]} for item in page.get("Contents", [])]
            self.s3.delete_objects(Bucket=self.bucket, Delete={"Objects": keys, "Quiet": True})
