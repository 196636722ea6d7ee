from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from typing import Any, Protocol, overload

from .s3 import Outcome

__all__ = ["checksum", "checksum_files", "etag", "etag_files", "guess", "verify"]

_Path = str | bytes | PathLike[str] | PathLike[bytes]

def etag(path: _Path, part_size: int | None = None, *, threads: int | None = None) -> str: ...
def etag_files(
    paths: Iterable[_Path], part_size: int | None = None, *, threads: int | None = None
) -> list[str | OSError]: ...

@overload
def checksum(  # type: ignore[overload-overlap]
    path: _Path,
    algorithms: str,
    part_size: int | None = None,
    composite: bool = False,
    *,
    threads: int | None = None,
) -> str: ...
@overload
def checksum(
    path: _Path,
    algorithms: Sequence[str],
    part_size: int | None = None,
    composite: bool = False,
    *,
    threads: int | None = None,
) -> dict[str, str]: ...

@overload
def checksum_files(  # type: ignore[overload-overlap]
    paths: Iterable[_Path],
    algorithms: str,
    part_size: int | None = None,
    composite: bool = False,
    *,
    threads: int | None = None,
) -> list[str | OSError]: ...
@overload
def checksum_files(
    paths: Iterable[_Path],
    algorithms: Sequence[str],
    part_size: int | None = None,
    composite: bool = False,
    *,
    threads: int | None = None,
) -> list[dict[str, str] | OSError]: ...

def guess(path: _Path, etag: str, *, threads: int | None = None) -> int | None: ...

class _Client(Protocol):
    # With any arguments: boto3's are by name, and each of a type of its own.
    def list_objects_v2(self, *args: Any, **kwargs: Any) -> Any: ...
    def head_object(self, *args: Any, **kwargs: Any) -> Any: ...
    def get_object_attributes(self, *args: Any, **kwargs: Any) -> Any: ...
    def get_object(self, *args: Any, **kwargs: Any) -> Any: ...

def verify(
    a: _Path,
    b: _Path,
    *,
    client: _Client | None = None,
    download: bool = False,
    threads: int | None = None,
) -> Iterator[Outcome]: ...
