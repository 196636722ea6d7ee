"""PUTs in every encoding that clients have, true or not."""

import base64
import hashlib
import time
import zlib

from signing import SIGNED_CHUNKS, SIGNED_CHUNKS_TRAILER, UNSIGNED, UNSIGNED_TRAILER, Chain, Request, Server

# Bytes of each checksum that S3 knows.
CHECKSUMS = {
    "crc32": 4,
    "crc32c": 4,
    "crc64nvme": 8,
    "sha1": 20,
    "sha256": 32,
    "sha512": 64,
    "md5": 16,
    "xxhash64": 8,
    "xxhash3": 8,
    "xxhash128": 16,
}


def crc32(body: bytes) -> str:
    return base64.b64encode(zlib.crc32(body).to_bytes(4, "big")).decode()


def digest(name: str, body: bytes) -> str:
    return base64.b64encode(hashlib.new(name, body).digest()).decode()


class Upload:
    """A PUT in one of the encodings that clients have: head, frames, and where one frame ends."""

    MODES = ("unsigned", "sha256", "signed chunks", "signed chunks, trailer", "unsigned trailer", "trailer in HTTP chunks")

    def __init__(self, mode: str, body: bytes, frame: int = 16 << 10):
        self.mode, self.body = mode, body
        self.pieces = [body[start : start + frame] for start in range(0, len(body), frame)]
        self.headers: dict[str, str] = {}
        self.trailer = ("", "")
        self.payload = {
            "unsigned": UNSIGNED,
            "sha256": hashlib.sha256(body).hexdigest(),
            "signed chunks": SIGNED_CHUNKS,
            "signed chunks, trailer": SIGNED_CHUNKS_TRAILER,
        }.get(mode, UNSIGNED_TRAILER)
        if mode not in ("unsigned", "sha256"):
            self.headers |= {"content-encoding": "aws-chunked", "x-amz-decoded-content-length": str(len(body))}
        if "trailer" in mode:
            self.announce("x-amz-checksum-crc32", crc32(body))

    def announce(self, name: str, value: str) -> None:
        """Sets the trailer and the header that tells of it."""
        self.trailer = (name, value)
        self.headers["x-amz-trailer"] = name

    def frames(self, chain: Chain) -> list[bytes]:
        """The body as it is on the wire. What is changed in the list is a lie."""
        if self.mode in ("unsigned", "sha256"):
            return list(self.pieces)
        if self.mode.startswith("signed"):
            frames = [chain.chunk(piece) for piece in self.pieces] + [chain.chunk(b"")]
            if "trailer" in self.mode:
                frames.append(chain.trailer(*self.trailer))
            return frames + [b"\r\n"]
        frames = [f"{len(piece):x}\r\n".encode() + piece + b"\r\n" for piece in self.pieces]
        frames += [b"0\r\n", f"{self.trailer[0]}:{self.trailer[1]}\r\n".encode(), b"\r\n"]
        if self.mode == "trailer in HTTP chunks":
            frames = [f"{len(frame):x}\r\n".encode() + frame + b"\r\n" for frame in frames] + [b"0\r\n\r\n"]
        return frames

    def wire(self, server: Server, path: str, query=None, lie=list, headers=None, age: float = 0) -> tuple[bytes, list[bytes]]:
        """Head and frames. `lie` changes the frames, `headers` those that are signed: `None` removes one."""
        request = Request("PUT", path, query or {}, dict(self.headers), self.payload)
        # How long frames are does not depend on their signatures, which depend on the head.
        _, draft = request.head(server)
        if self.mode == "trailer in HTTP chunks":
            request.headers["transfer-encoding"] = "chunked"
        else:
            request.headers["content-length"] = str(sum(map(len, lie(self.frames(draft)))))
        request.headers |= headers or {}
        request.headers = {name: value for name, value in request.headers.items() if value is not None}
        head, chain = request.head(server, time.time() - age)
        return head, lie(self.frames(chain))
