"""The digest of an open file."""

from collections.abc import Callable
from typing import Any

from ._manyhash import HASH, new


def file_digest(fileobj: Any, digest: str | Callable[[], HASH], /, *, _bufsize: int = 1 << 18) -> HASH:
    """Hash a file that is open for reading in binary mode, as hashlib.file_digest does.

    ``digest`` is the name of an algorithm, or a callable that returns a hash object. The call may bypass Python's own
    buffers, so do not use the file object afterwards. For many files, ``digest_files`` is faster.
    """
    hasher = new(digest) if isinstance(digest, str) else digest()
    if hasattr(fileobj, "getbuffer"):
        # io.BytesIO: all the bytes are there.
        with fileobj.getbuffer() as buffer:
            hasher.update(buffer)
        return hasher
    if not (hasattr(fileobj, "readinto") and hasattr(fileobj, "readable") and fileobj.readable()):
        raise ValueError(f"'{fileobj!r}' is not a file-like object in binary reading mode.")
    buffer = bytearray(_bufsize)
    view = memoryview(buffer)
    while True:
        size = fileobj.readinto(buffer)
        if size is None:
            raise BlockingIOError("I/O operation would block.")
        if size == 0:
            return hasher
        hasher.update(view[:size])
