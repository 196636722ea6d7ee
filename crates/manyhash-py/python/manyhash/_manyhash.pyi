from asyncio import Future
from collections.abc import Callable, Coroutine, Iterable, Sequence
from os import PathLike
from typing import Any, Generic, Protocol, TypeVar, final, overload

from typing_extensions import Buffer

__all__ = [
    "Array",
    "ChunkedArray",
    "Engine",
    "HASH",
    "Stream",
    "__version__",
    "algorithms",
    "digest_column",
    "digest_files",
    "digest_many",
    "hexdigest_many",
    "hmac_column",
    "hmac_many",
    "md5",
    "new",
    "sha1",
    "sha224",
    "sha256",
    "sha384",
    "sha512",
    "sha512_256",
    "update_many",
]
__version__: str
algorithms: list[str]

@final
class HASH:
    @property
    def name(self) -> str: ...
    @property
    def digest_size(self) -> int: ...
    @property
    def block_size(self) -> int: ...
    def update(self, data: Buffer, /) -> None: ...
    def digest(self) -> bytes: ...
    def hexdigest(self) -> str: ...
    def copy(self) -> HASH: ...

def md5(data: Buffer = b"", *, usedforsecurity: object = True, string: Buffer = b"") -> HASH: ...
def sha1(data: Buffer = b"", *, usedforsecurity: object = True, string: Buffer = b"") -> HASH: ...
def sha224(data: Buffer = b"", *, usedforsecurity: object = True, string: Buffer = b"") -> HASH: ...
def sha256(data: Buffer = b"", *, usedforsecurity: object = True, string: Buffer = b"") -> HASH: ...
def sha384(data: Buffer = b"", *, usedforsecurity: object = True, string: Buffer = b"") -> HASH: ...
def sha512(data: Buffer = b"", *, usedforsecurity: object = True, string: Buffer = b"") -> HASH: ...
def sha512_256(data: Buffer = b"", *, usedforsecurity: object = True, string: Buffer = b"") -> HASH: ...
def new(name: str, data: Buffer = b"", *, usedforsecurity: object = True, string: Buffer = b"") -> HASH: ...
def digest_many(name: str, buffers: Iterable[Buffer]) -> list[bytes]: ...
def hexdigest_many(name: str, buffers: Iterable[Buffer]) -> list[str]: ...
def hmac_many(key: Buffer, name: str, buffers: Iterable[Buffer]) -> list[bytes]: ...
def update_many(objects: Iterable[HASH], buffers: Iterable[Buffer]) -> None: ...

class _ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class Array:
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...
    def __len__(self) -> int: ...

@final
class ChunkedArray:
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __len__(self) -> int: ...

@overload
def digest_column(name: str, array: _ArrowArray, *, hex: bool = False) -> Array: ...  # type: ignore[overload-overlap]
@overload
def digest_column(name: str, array: _ArrowStream, *, hex: bool = False) -> ChunkedArray: ...

@overload
def hmac_column(key: Buffer, name: str, array: _ArrowArray, *, hex: bool = False) -> Array: ...  # type: ignore[overload-overlap]
@overload
def hmac_column(key: Buffer, name: str, array: _ArrowStream, *, hex: bool = False) -> ChunkedArray: ...

_Path = str | bytes | PathLike[str] | PathLike[bytes]

@overload
def digest_files(  # type: ignore[overload-overlap]
    name: str,
    paths: Iterable[_Path],
    *,
    threads: int | None = None,
    progress: Callable[[int, int], Any] | None = None,
) -> list[bytes | OSError]: ...
@overload
def digest_files(
    name: Sequence[str],
    paths: Iterable[_Path],
    *,
    threads: int | None = None,
    progress: Callable[[int, int], Any] | None = None,
) -> list[dict[str, bytes] | OSError]: ...

_Digest = TypeVar("_Digest", bytes, tuple[bytes, ...])

@final
class Engine:
    def __new__(cls, threads: int | None = None, memory: int | None = None) -> Engine: ...
    @overload
    def digest(self, name: str, data: Buffer) -> Future[bytes]: ...  # type: ignore[overload-overlap]
    @overload
    def digest(self, name: Sequence[str], data: Buffer) -> Future[tuple[bytes, ...]]: ...
    def digest_many(self, name: str, buffers: Iterable[Buffer]) -> Future[list[bytes]]: ...
    @overload
    def stream(self, name: str) -> Stream[bytes]: ...  # type: ignore[overload-overlap]
    @overload
    def stream(self, name: Sequence[str]) -> Stream[tuple[bytes, ...]]: ...

@final
class Stream(Generic[_Digest]):
    def write(self, data: Buffer) -> Coroutine[Future[None], None, None]: ...
    def finish(self) -> Coroutine[Future[None], None, _Digest]: ...
    @property
    def written(self) -> int: ...
