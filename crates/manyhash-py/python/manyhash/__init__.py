"""Hash many things at once: MD5, SHA-1, SHA-2, SHA-3 and more, many messages side by side in SIMD lanes, on all cores.

- ``md5``, ``sha256`` and so on (a function for each of ``algorithms_available``), ``new``, ``file_digest``: one message
  at a time, as in hashlib;
- ``digest_many``, ``hexdigest_many``, ``update_many``: many messages in memory;
- ``hmac_many``: their HMACs under one key;
- ``digest_column``, ``hmac_column``: a column of any library that speaks Arrow;
- ``digest_files``: files by their paths;
- ``Engine``: messages of many asyncio tasks, as they arrive.

A ``name`` is hashlib's or another usual spelling: ``sha256``, ``SHA-256``, ``sha512/256``.
"""

from . import _manyhash
from ._file import file_digest
from ._manyhash import *
from ._manyhash import __version__ as __version__

#: The names that ``new`` takes, in hashlib's spelling.
algorithms_available: set[str] = set(_manyhash.algorithms)

#: The same: nothing here depends on the platform.
algorithms_guaranteed: set[str] = set(_manyhash.algorithms)

__all__ = [
    "Array",
    "ChunkedArray",
    "Engine",
    "HASH",
    "Stream",
    "__version__",
    "algorithms",
    "algorithms_available",
    "algorithms_guaranteed",
    "digest_column",
    "digest_files",
    "digest_many",
    "file_digest",
    "hexdigest_many",
    "hmac_column",
    "hmac_many",
    "keccak256",
    "md5",
    "new",
    "ripemd160",
    "sha1",
    "sha224",
    "sha256",
    "sha384",
    "sha3_224",
    "sha3_256",
    "sha3_384",
    "sha3_512",
    "sha512",
    "sha512_256",
    "sm3",
    "update_many",
]
