"""What is said of a body and is not so, and how S3 answers it."""

import base64
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from bucket import Bucket
from signing import CLOSED
from uploads import CHECKSUMS, Upload, crc32, digest

Frames = list[bytes]
TRAILED = ("unsigned trailer", "signed chunks, trailer", "trailer in HTTP chunks")
SIGNED = ("signed chunks", "signed chunks, trailer")

# With these frames a body has four chunks, so the last one, which is empty, is frame 4, and a trailer frame 5.
BODY, FRAME = 50_000, 16 << 10

# An answer or none: what is no HTTP may be hung up on.
REFUSED = frozenset({400, str(CLOSED)})


@dataclass(frozen=True)
class Lie:
    """A PUT that is changed in one way."""

    name: str
    # Statuses, or statuses and codes.
    expected: frozenset | set
    mode: str = "unsigned"
    # Headers that are signed with the rest; `None` leaves one out.
    headers: dict = field(default_factory=dict)
    # Changes the frames, which are signed as they were.
    frames: Callable[[Frames], Frames] = list
    # Changes the head, which was signed as it was.
    head: Callable[[bytes], bytes] = bytes
    trailer: tuple[str, str] | None = None
    frame: int = FRAME
    # How long ago it was signed, in seconds.
    age: float = 0

    def tell(self, bucket: Bucket, body: bytes) -> None:
        """Sends it. The answer must be as expected, and the key must not exist."""
        key, upload, name = bucket.key(), Upload(self.mode, body, self.frame), f"{self.name}, {self.mode}"
        if self.trailer:
            upload.announce(*self.trailer)
        head, frames = upload.wire(bucket.server, bucket.path(key), lie=self.frames, headers=self.headers, age=self.age)
        bucket.refused(name, bucket.exchange(self.head(head), frames), self.expected)
        bucket.absent(name, key)


def lies(bucket: Bucket) -> Iterator[tuple]:
    """Every lie, as cases of `Bucket.group`."""
    body, other = bucket.body(BODY), bucket.body(BODY)
    for some in (of_bodies(body, other), of_lengths(), of_senders(), of_frames(), of_trailers()):
        for lie in some:
            yield lie.tell, bucket, body


def another_bit(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def another_digit(data: bytes, behind: bytes) -> bytes:
    """Another hexadecimal digit in what follows a name."""
    at = data.index(behind) + 20
    return data[:at] + (b"0" if data[at : at + 1] != b"0" else b"1") + data[at + 1 :]


def of_bodies(body: bytes, other: bytes) -> Iterator[Lie]:
    bad, invalid = {"400 BadDigest"}, {"400 InvalidRequest"}
    another = {"x-amz-content-sha256": hashlib.sha256(other).hexdigest()}
    yield Lie("another payload hash", {"400 XAmzContentSHA256Mismatch"}, headers=another)
    yield Lie("a payload hash that is none", {"400 InvalidArgument"}, headers={"x-amz-content-sha256": "abc"})
    yield Lie("Content-MD5 of another body", bad, headers={"content-md5": digest("md5", other)})
    for value in ("abc", digest("sha1", body)):
        yield Lie(f"Content-MD5 {value}", {"400 InvalidDigest"}, headers={"content-md5": value})
    for name, length in CHECKSUMS.items():
        header = f"x-amz-checksum-{name}"
        zeros, short = (base64.b64encode(bytes(size)).decode() for size in (length, length - 1))
        yield Lie(f"{name} of another body", bad, headers={header: zeros})
        yield Lie(f"{name} of another body, signed", bad, "sha256", {header: zeros})
        yield Lie(f"{name} too short", invalid, headers={header: short})
        yield Lie(f"{name} that is no base64", invalid, headers={header: "!" * 8})
        for mode in TRAILED:
            yield Lie(f"{name} of another body", bad, mode, trailer=(header, zeros))
            yield Lie(f"{name} too short", {400}, mode, trailer=(header, short))
    # Two are one too many, even if both are right.
    right = {"x-amz-checksum-crc32": crc32(body)}, {"x-amz-checksum-sha256": digest("sha256", body)}
    yield Lie("two checksums", invalid, headers=right[0] | right[1])
    for mode in TRAILED[:2]:
        yield Lie("another checksum in the header", invalid, mode, right[1])
        yield Lie("the trailer's checksum in the header", invalid, mode, right[0])
    yield Lie("an algorithm without a value", {400}, headers={"x-amz-sdk-checksum-algorithm": "CRC32"})
    unknown = {"x-amz-sdk-checksum-algorithm": "SHA3", "x-amz-checksum-sha3": digest("sha256", body)}
    yield Lie("an unknown algorithm", {400}, headers=unknown)


def of_lengths() -> Iterator[Lie]:
    decoded = "x-amz-decoded-content-length"
    yield Lie("longer than said", {"400 XAmzContentSHA256Mismatch"}, "sha256", {"content-length": "40000"})
    yield Lie("no length", {411}, headers={"content-length": None})
    yield Lie("more than 5 GiB", {"400 EntityTooLarge"}, headers={"content-length": str((5 << 30) + 1)})
    for value in ("-1", "1e3", "99999999999999999999999", "5, 6"):
        yield Lie(f"length {value}", REFUSED, headers={"content-length": value})
    # With both, HTTP leaves out the length, so that it is not what was signed.
    chunks = adding(b"transfer-encoding: chunked")
    yield Lie("length and HTTP chunks", REFUSED | {"403 SignatureDoesNotMatch"}, head=chunks)
    yield Lie("two lengths", REFUSED, head=adding(b"content-length: 49999"))
    for mode in Upload.MODES[2:]:
        yield Lie("decoded length one more", {400}, mode, {decoded: str(BODY + 1)})
        yield Lie("decoded length one less", {400}, mode, {decoded: str(BODY - 1)})
        for value in (None, "-1", "1e3", "99999999999999999999999", "0x10"):
            yield Lie(f"decoded length {value}", {400, 411}, mode, {decoded: value})


def of_senders() -> Iterator[Lie]:
    def another_signature(head: bytes) -> bytes:
        return another_digit(head, b"Signature=")

    def nobody(head: bytes) -> bytes:
        return b"\r\n".join(line for line in head.split(b"\r\n") if not line.startswith(b"authorization"))

    denied, differs = {"403 AccessDenied"}, {"403 SignatureDoesNotMatch"}
    for mode in Upload.MODES:
        yield Lie("another signature", differs, mode, head=another_signature)
        yield Lie("nobody", denied, mode, head=nobody)
    yield Lie("a header not signed", denied, head=adding(b"x-amz-meta-added: 1"))
    yield Lie("another key than signed", differs, head=lambda head: head.replace(b"/key-", b"/Key-", 1))
    yield Lie("another query than signed", differs, head=lambda head: head.replace(b" HTTP/1.1", b"?x-id=PutObject HTTP/1.1", 1))
    unknown = {"403 InvalidAccessKeyId"}
    yield Lie("an unknown access key", unknown, head=lambda head: head.replace(b"Credential=", b"Credential=X", 1))
    for age in (1200, -1200):
        yield Lie(f"signed {age} s ago", {"403 RequestTimeTooSkewed"}, age=age)
    for mode in SIGNED:
        kind = "PAYLOAD-TRAILER" if "trailer" in mode else "PAYLOAD"
        curve = {"x-amz-content-sha256": f"STREAMING-AWS4-ECDSA-P256-SHA256-{kind}"}
        yield Lie("signature version 4A", {400, 501}, mode, curve)


def of_frames() -> Iterator[Lie]:
    refused, differs = {400, 403}, {"403 SignatureDoesNotMatch"}
    sizes = "4001", "3fff", "0", "ffffffffffffffff", "10000000000000000", "-4000", "0x4000", "g", "", "0" * 100_000 + "4000"

    def without_signature(frames: Frames) -> Frames:
        return [frame.split(b";")[0] + b"\r\n" + frame.partition(b"\r\n")[2] for frame in frames]

    for mode in SIGNED:
        for place in range(5):
            change = changing(place, lambda frame: another_digit(frame, b"signature"))
            yield Lie(f"another signature of chunk {place}", differs, mode, frames=change)
        for place in range(4):
            change = changing(place, lambda frame: another_bit(frame, -10))
            yield Lie(f"another bit in chunk {place}", differs, mode, frames=change)
        yield Lie("chunks swapped", differs, mode, frames=lambda frames: [frames[1], frames[0], *frames[2:]])
        yield Lie("a chunk twice", refused, mode, frames=lambda frames: [frames[0], *frames])
        yield Lie("a chunk left out", refused, mode, frames=lambda frames: frames[1:])
        yield Lie("chunks without signatures", refused, mode, frames=without_signature)
        yield Lie("chunks too small", {400, 403}, mode, frame=4096)
    for mode, end in zip(("signed chunks", "signed chunks, trailer", "unsigned trailer"), (b";", b";", b"\r")):
        for size in sizes:
            change = changing(0, lambda frame, size=size, end=end: frame.replace(b"4000" + end, size.encode() + end, 1))
            yield Lie(f"chunk size {size[:20]}", refused, mode, frames=change)
        yield Lie("no end of a chunk", refused, mode, frames=changing(0, lambda frame: frame[:-2] + b"XX"))
        yield Lie("no frames", refused, mode, frames=lambda frames: [b"x" * BODY])
        yield Lie("nothing", refused, mode, frames=lambda frames: [])
        yield Lie("something behind the end", refused, mode, frames=lambda frames: [*frames, b"0\r\n\r\n"])


def of_trailers() -> Iterator[Lie]:
    refused = {400, 403}
    for mode in TRAILED:
        yield Lie("another trailer than announced", refused, mode, {"x-amz-trailer": "x-amz-checksum-sha256"})
        yield Lie("a trailer not announced", refused, mode, {"x-amz-trailer": None})
    signed = "signed chunks, trailer"
    change = changing(5, lambda frame: another_digit(frame, b"signature"))
    yield Lie("another signature of the trailer", {"403 SignatureDoesNotMatch"}, signed, frames=change)
    change = changing(5, lambda frame: frame.split(b"x-amz-trailer-signature")[0])
    yield Lie("no signature of the trailer", refused, signed, frames=change)
    for text in ("", "x-amz-checksum-crc32\r\n", ":\r\n", "x-amz-checksum-crc32:\r\n", "\0\r\n"):
        change = changing(5, lambda frame, text=text: text.encode())
        yield Lie(f"trailer {text!r}", {400}, "unsigned trailer", frames=change)
    yield Lie("a trailer twice", {400}, "unsigned trailer", frames=changing(5, lambda frame: frame * 2))
    change = changing(5, lambda frame: b"x-amz-meta-a:b\r\n" * 20_000 + frame)
    yield Lie("many trailers", {400}, "unsigned trailer", frames=change)


def changing(place: int, change: Callable[[bytes], bytes]) -> Callable[[Frames], Frames]:
    """Changes one frame."""
    return lambda frames: [*frames[:place], change(frames[place]), *frames[place + 1 :]]


def adding(header: bytes) -> Callable[[bytes], bytes]:
    """Adds a header that is not signed."""
    return lambda head: head.replace(b"\r\n\r\n", b"\r\n" + header + b"\r\n\r\n")
