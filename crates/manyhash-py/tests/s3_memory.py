"""A client of S3 in memory, which answers as boto3's does, and keeps what it was asked."""

import base64
import hashlib
import threading
import zlib
from dataclasses import dataclass, field

FUNCTIONS = {
    "CRC32": lambda data: zlib.crc32(data).to_bytes(4),
    "SHA256": lambda data: hashlib.sha256(data).digest(),
}


class ClientError(Exception):
    """As botocore's: S3's answer is an attribute."""

    def __init__(self, status, code, operation):
        super().__init__(f"An error occurred ({code}) when calling the {operation} operation: refused")
        self.response = {"Error": {"Code": code, "Message": "refused"}, "ResponseMetadata": {"HTTPStatusCode": status}}


def refuse(status, code="Refused"):
    raise ClientError(status, code, "Operation")


@dataclass
class Object:
    data: bytes
    part_size: int | None = None
    #: An algorithm, and COMPOSITE or FULL_OBJECT.
    checksum: tuple[str, str] | None = None
    encryption: str | None = None

    @property
    def parts(self):
        size = self.part_size or max(len(self.data), 1)
        return [self.data[i : i + size] for i in range(0, max(len(self.data), 1), size)]

    @property
    def etag(self):
        salt = b"salt" if self.encryption == "aws:kms" else b""
        md5s = [hashlib.md5(salt + part).digest() for part in self.parts]
        if self.part_size is None:
            return f'"{md5s[0].hex()}"'
        return f'"{hashlib.md5(b"".join(md5s)).hexdigest()}-{len(md5s)}"'

    def checksums(self, with_number=True):
        if self.checksum is None:
            return {}
        name, kind = self.checksum
        function = FUNCTIONS[name]
        if kind == "FULL_OBJECT":
            return {f"Checksum{name}": base64.b64encode(function(self.data)).decode(), "ChecksumType": kind}
        digests = [function(part) for part in self.parts]
        number = f"-{len(digests)}" if with_number else ""
        text = base64.b64encode(function(b"".join(digests))).decode() + number
        return {f"Checksum{name}": text, "ChecksumType": kind}


class Body:
    """As botocore's StreamingBody. It breaks off after so many bytes, if it is to."""

    def __init__(self, data, breaks=None):
        self.data, self.at, self.breaks, self.read_at_end = data, 0, breaks, False

    def read(self, amt=None):
        if self.breaks is not None and self.at >= self.breaks:
            raise ConnectionResetError("connection reset")
        end = min(self.at + amt, len(self.data) if self.breaks is None else self.breaks)
        chunk = self.data[self.at : end]
        self.at = end
        self.read_at_end = not chunk
        return chunk


@dataclass
class Memory:
    objects: dict[tuple[str, str], Object]
    page_size: int = 1000
    calls: list[tuple[str, dict]] = field(default_factory=list)
    #: What becomes of answers, by operation: each is called with the request and the answer.
    changes: dict = field(default_factory=dict)
    threads: set[str] = field(default_factory=set)
    bodies: list[Body] = field(default_factory=list)

    def asked(self, operation):
        return [arguments for name, arguments in self.calls if name == operation]

    def _answer(self, operation, arguments, answer):
        self.calls.append((operation, arguments))
        self.threads.add(threading.current_thread().name)
        change = self.changes.get(operation)
        return answer() if change is None else change(arguments, answer)

    def _object(self, operation, arguments):
        try:
            return self.objects[arguments["Bucket"], arguments["Key"]]
        except KeyError:
            raise ClientError(404, "404" if operation == "HeadObject" else "NoSuchKey", operation) from None

    def list_objects_v2(self, **arguments):
        def answer():
            bucket, prefix = arguments["Bucket"], arguments.get("Prefix", "")
            if not any(bucket == of for of, _ in self.objects):
                raise ClientError(404, "NoSuchBucket", "ListObjectsV2")
            keys = sorted((key for of, key in self.objects if of == bucket and key.startswith(prefix)), key=str.encode)
            keys = [key for key in keys if key > arguments.get("ContinuationToken", "")]
            page = {"IsTruncated": len(keys) > self.page_size, "Name": bucket}
            contents = []
            for key in keys[: self.page_size]:
                object = self.objects[bucket, key]
                listed = {"Key": key, "Size": len(object.data), "ETag": object.etag, "StorageClass": "STANDARD"}
                if object.checksum is not None:
                    listed |= {"ChecksumAlgorithm": [object.checksum[0]], "ChecksumType": object.checksum[1]}
                contents.append(listed)
            if contents:
                page["Contents"] = contents
            if page["IsTruncated"]:
                page["NextContinuationToken"] = contents[-1]["Key"]
            return page

        return self._answer("ListObjectsV2", arguments, answer)

    def head_object(self, **arguments):
        def answer():
            object = self._object("HeadObject", arguments)
            head = {"ContentLength": len(object.data), "ETag": object.etag, "Metadata": {}}
            if arguments.get("ChecksumMode") == "ENABLED":
                head |= object.checksums()
            if object.encryption is not None:
                head["ServerSideEncryption"] = object.encryption
            if (number := arguments.get("PartNumber")) is not None:
                if number > len(object.parts):
                    raise ClientError(416, "416", "HeadObject")
                head["ContentLength"] = len(object.parts[number - 1])
                head["ContentRange"] = f"bytes 0-{head['ContentLength'] - 1}/{len(object.data)}"
                if object.part_size is not None:
                    head["PartsCount"] = len(object.parts)
            return head

        return self._answer("HeadObject", arguments, answer)

    def get_object_attributes(self, **arguments):
        def answer():
            object = self._object("GetObjectAttributes", arguments)
            attributes = {"ETag": object.etag.strip('"'), "ObjectSize": len(object.data)}
            if object.checksum is not None:
                attributes["Checksum"] = object.checksums(with_number=False)
            if object.part_size is not None:
                attributes["ObjectParts"] = {"TotalPartsCount": len(object.parts)}
                if object.checksum is not None and object.checksum[1] == "COMPOSITE":
                    first = arguments.get("PartNumberMarker", 0)
                    last = min(first + 2, len(object.parts))
                    name = object.checksum[0]
                    attributes["ObjectParts"] |= {
                        "Parts": [
                            {
                                "PartNumber": i + 1,
                                "Size": len(object.parts[i]),
                                f"Checksum{name}": base64.b64encode(FUNCTIONS[name](object.parts[i])).decode(),
                            }
                            for i in range(first, last)
                        ],
                        "IsTruncated": last < len(object.parts),
                        "NextPartNumberMarker": last,
                    }
            return attributes

        return self._answer("GetObjectAttributes", arguments, answer)

    def get_object(self, **arguments):
        def answer():
            object = self._object("GetObject", arguments)
            if arguments.get("IfMatch", object.etag) != object.etag:
                raise ClientError(412, "PreconditionFailed", "GetObject")
            first, last = arguments["Range"].removeprefix("bytes=").split("-")
            data = object.data[int(first) : int(last) + 1]
            body = Body(data)
            self.bodies.append(body)
            range = f"bytes {first}-{last}/{len(object.data)}"
            return {"ContentLength": len(data), "ContentRange": range, "ETag": object.etag, "Body": body}

        return self._answer("GetObject", arguments, answer)
