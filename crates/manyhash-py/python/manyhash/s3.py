"""What S3 says of objects, computed from files, and compared with what is in buckets.

- ``etag``, ``etag_files``: the ETags that objects with the bytes of files have, uploaded at once or in parts;
- ``checksum``, ``checksum_files``: their checksums, with all ten algorithms of S3;
- ``guess``: the size of the parts in which a file was uploaded;
- ``verify``: whether two directories or buckets hold the same bytes, mostly without downloading them.

Files are read once, on all cores, the parts of one and many files side by side. Requests are sent by a client of boto3,
which the caller makes; this package does not need boto3. ::

    import boto3, manyhash.s3

    for outcome in manyhash.s3.verify("photos", "s3://bucket/photos", client=boto3.client("s3")):
        if outcome.state != "same":
            print(outcome)
"""

from dataclasses import dataclass
from typing import Literal

from ._s3 import checksum, checksum_files, etag, etag_files, guess, verify

__all__ = ["Outcome", "checksum", "checksum_files", "etag", "etag_files", "guess", "verify"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one name.

    - ``name``: the name below both sides. Bytes of a file's name that are no UTF-8 are as ``os.fsdecode`` has them.
    - ``state``: ``same`` and ``differs`` are proved. ``missing`` is only in the first side, ``extra`` only in the second.
      Of ``unverified``, nothing is proved.
    - ``size``: the bytes, where a side tells.
    - ``check``: what was compared, of ``same`` and ``differs``, such as ``sha256`` or ``md5 of 3 parts``.
    - ``reason``: why nothing is proved, of ``unverified``.

    Checks by 32 and 64 bits find accidental changes. MD5 and SHA-1 also find changes that somebody makes to an object,
    but not two objects that somebody made together.
    """

    name: str
    state: Literal["same", "differs", "missing", "extra", "unverified"]
    size: int | None = None
    check: str | None = None
    reason: str | None = None
