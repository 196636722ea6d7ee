"""A tree and a bucket with the same in both, uploaded in every form that S3 has."""

import os
import random
from pathlib import Path

import boto3
from boto import ALGORITHMS as COMPUTED
from boto import COMPOSITE, PART, checksum, text
from botocore.config import Config
from botocore.exceptions import ClientError
from signing import Server
from uploads import digest

# Algorithms, and what S3 makes of the parts' checksums. MD5 is the only one that boto3 does not compute.
ALGORITHMS = COMPUTED | {"MD5": (COMPOSITE,)}
# Sizes of parts.
EVEN, UNEVEN, ONE = (PART, PART, 123_457), (PART, PART + 77, 1), (70_001,)

NAMES = [
    *("a b", "a+b", "a%20b", "%", "%2F", "!*'()", "?&=#", "~", "\\", "\"<>&'", "-", "--help", ".hidden", "s3:", "[a]{b}|^`$;,@"),
    # Composed and not; two bytes, three, four; the last before the surrogates' and the first after, which UTF-16 has first.
    *("\u00e9", "e\u0301", "ü/日本/𝄞", "\ufb01", "\ud7ff", "\ue000", "\uffee", "\U00010000", "\U0010fffd"),
    # Lines that are none.
    "\u2028\u2029\x85",
    # Right to left, no width, no break.
    *("א\u202e", "a\u200bb", "a\u00a0b", "\ufeff"),
    *("tab\tname", "new\nline", "return\rline", " ", "trailing ", "x" * 255, "/".join(["y" * 100] * 10)),
    # `-` and `.` are before the slash.
    *("d/in", "d-", "d.txt", "d0", "D"),
]
# Names that XML cannot hold. Lists encode them as URLs do.
NOT_IN_XML = ["\x01\x1f\x7f", "\ufffe\uffff"]


def s3(server: Server, **settings):
    """A client that sends no checksum unless it is told one."""
    config = Config(
        retries={"total_max_attempts": 2}, s3={"addressing_style": "path"}, signature_version="s3v4", **settings
    )
    keys = server.keys
    return boto3.client(
        "s3",
        endpoint_url=server.endpoint,
        aws_access_key_id=keys.access,
        aws_secret_access_key=keys.secret,
        region_name=keys.region,
        config=config,
    )


def sums(algorithm: str | None, body: bytes) -> dict[str, str]:
    """What tells boto3 of a checksum."""
    if algorithm is None:
        return {}
    if algorithm == "MD5":
        return {"ChecksumMD5": digest("md5", body)}
    return {"ChecksumAlgorithm": algorithm, f"Checksum{algorithm}": text(checksum(algorithm, body))}


class Pair:
    """What is put is written to the tree too."""

    def __init__(self, server: Server, tree: Path, bucket: str, seed: int):
        self.server, self.tree, self.bucket = server, tree, bucket
        self.s3 = s3(server, request_checksum_calculation="when_required")
        self.random = random.Random(seed)
        self.names: set[str] = set()
        tree.mkdir(parents=True)
        self.s3.create_bucket(Bucket=bucket)

    def body(self, length: int) -> bytes:
        return self.random.randbytes(length)

    def write(self, name: str, body: bytes, moment: float | None = None) -> None:
        path = self.tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
        if moment is not None:
            os.utime(path, (moment, moment))
        self.names.add(name)

    def put(self, name: str, body: bytes, algorithm: str | None = None, **more) -> None:
        self.s3.put_object(Bucket=self.bucket, Key=name, Body=body, **sums(algorithm, body), **more)
        self.write(name, body)

    def put_parts(self, name: str, sizes, algorithm: str | None = None, kind: str | None = None, **more) -> bytes:
        body = self.body(sum(sizes))
        self.upload(name, body, sizes, algorithm, kind, **more)
        self.write(name, body)
        return body

    def upload(self, name: str, body: bytes, sizes, algorithm: str | None = None, kind: str | None = None, **more) -> None:
        """Uploads in parts of these sizes."""
        named = {"Bucket": self.bucket, "Key": name}
        if algorithm:
            more |= {"ChecksumAlgorithm": algorithm, "ChecksumType": kind}
        upload = {**named, "UploadId": self.s3.create_multipart_upload(**named, **more)["UploadId"]}
        parts, start = [], 0
        for number, size in enumerate(sizes, 1):
            part = body[start : start + size]
            done = self.s3.upload_part(**upload, PartNumber=number, Body=part, **sums(algorithm, part))
            field = f"Checksum{algorithm}"
            parts.append({"PartNumber": number, "ETag": done["ETag"]} | ({field: done[field]} if field in done else {}))
            start += size
        assert start == len(body)
        self.s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": parts}, **({"ChecksumType": kind} if kind else {}))

    def copy(self, source: str, name: str) -> None:
        self.s3.copy_object(Bucket=self.bucket, Key=name, CopySource={"Bucket": self.bucket, "Key": source})
        self.write(name, (self.tree / source).read_bytes())

    def copy_parts(self, source: str, name: str) -> None:
        """Each part is a range of the source, which ends with a smaller one."""
        body = (self.tree / source).read_bytes()
        upload = {"Bucket": self.bucket, "Key": name}
        upload["UploadId"] = self.s3.create_multipart_upload(**upload)["UploadId"]
        parts = []
        for number, start in enumerate(range(0, len(body), PART), 1):
            done = self.s3.upload_part_copy(
                **upload,
                PartNumber=number,
                CopySource={"Bucket": self.bucket, "Key": source},
                CopySourceRange=f"bytes={start}-{min(start + PART, len(body)) - 1}",
            )
            parts.append({"PartNumber": number, "ETag": done["CopyPartResult"]["ETag"]})
        self.s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": parts})
        self.write(name, body)

    def delete(self, name: str) -> None:
        """From the bucket."""
        self.s3.delete_object(Bucket=self.bucket, Key=name)

    def takes(self, algorithm: str) -> bool:
        """Whether the server keeps checksums of this algorithm, and knows a wrong one."""
        field, named = f"Checksum{algorithm}", {"Bucket": self.bucket, "Key": "probe"}
        try:
            self.s3.put_object(**named, Body=b"probe", **sums(algorithm, b"probe"))
            head = self.s3.head_object(**named, ChecksumMode="ENABLED")
            self.s3.put_object(**named, Body=b"other", **sums(algorithm, b"probe"))
        except ClientError as error:
            # The second is MinIO's own word for it.
            return error.response["Error"]["Code"] in ("BadDigest", "XAmzContentChecksumMismatch") and field in head
        finally:
            self.delete("probe")
        return False


def fill(pair: Pair, algorithms: list[str], names: list[str]) -> list[str]:
    """Every form with every algorithm; the names that the server refused."""
    for algorithm in [None, *algorithms]:
        at = str(algorithm).lower()
        pair.put(f"{at}/single", pair.body(100_003), algorithm)
        pair.put(f"{at}/empty", b"", algorithm)
        for kind in ALGORITHMS[algorithm] if algorithm else (None,):
            below = f"{at}/{str(kind).lower()}"
            for form, sizes in (("even", EVEN), ("uneven", UNEVEN), ("one", ONE)):
                pair.put_parts(f"{below}/{form}", sizes, algorithm, kind)
            pair.copy(f"{below}/even", f"{below}/copied")
            pair.copy(f"{below}/one", f"{below}/copied-one")
        pair.copy(f"{at}/single", f"{at}/copied")
        pair.copy(f"{at}/empty", f"{at}/copied-empty")
    pair.copy_parts("none/none/even", "none/copied-in-parts")
    # What no client chooses, so that it is asked for.
    pair.put_parts("none/none/strange", (PART + 4099, PART + 4099, 3))
    refused = []
    for name in names:
        try:
            pair.put(f"names/{name}", name.encode())
        except ClientError:
            refused.append(name)
            pair.names.discard(f"names/{name}")
    return refused
