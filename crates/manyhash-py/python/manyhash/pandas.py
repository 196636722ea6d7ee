"""Digests of pandas series. Importing this adds the accessor ``manyhash`` to every series.

Needs pandas and pyarrow. ::

    import manyhash.pandas

    frame["token"] = frame["mail"].manyhash.sha256()
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pandas
import pyarrow

from ._manyhash import Array, ChunkedArray, algorithms, digest_column, hmac_column

__all__ = ["SeriesAccessor"]


@pandas.api.extensions.register_series_accessor("manyhash")
class SeriesAccessor:
    """The digests of a series of str or bytes, as a series backed by pyarrow with the same index and name.

    They are hexadecimal strings, or bytes with ``hex=False``. Missing values stay missing.
    """

    def __init__(self, series: Any) -> None:
        self._series = series

    def digest(self, name: str, *, hex: bool = True) -> Any:
        """Return the digests by a named algorithm."""
        return self._of_column(lambda values: digest_column(name, values, hex=hex))

    def hmac(self, key: bytes, name: str, *, hex: bool = True) -> Any:
        """Return the HMACs under a key by a named algorithm: pseudonyms that cannot be traced back without the key."""
        return self._of_column(lambda values: hmac_column(key, name, values, hex=hex))

    def _of_column(self, hash_column: Callable[[Any], Array | ChunkedArray]) -> Any:
        # Of no values at all pyarrow does not find a type.
        values = pyarrow.array(self._series, from_pandas=True)
        if pyarrow.types.is_null(values.type):
            values = values.cast(pyarrow.string())
        result = hash_column(values)
        arrow = pyarrow.array(result) if isinstance(values, pyarrow.Array) else pyarrow.chunked_array(result)
        extension = pandas.arrays.ArrowExtensionArray(arrow)
        return pandas.Series(extension, index=self._series.index, name=self._series.name)

    if TYPE_CHECKING:
        # For type checkers; made below.
        def md5(self, *, hex: bool = True) -> Any: ...
        def sha1(self, *, hex: bool = True) -> Any: ...
        def sha224(self, *, hex: bool = True) -> Any: ...
        def sha256(self, *, hex: bool = True) -> Any: ...
        def sha384(self, *, hex: bool = True) -> Any: ...
        def sha512(self, *, hex: bool = True) -> Any: ...
        def sha512_256(self, *, hex: bool = True) -> Any: ...
        def sha3_224(self, *, hex: bool = True) -> Any: ...
        def sha3_256(self, *, hex: bool = True) -> Any: ...
        def sha3_384(self, *, hex: bool = True) -> Any: ...
        def sha3_512(self, *, hex: bool = True) -> Any: ...
        def keccak256(self, *, hex: bool = True) -> Any: ...
        def sm3(self, *, hex: bool = True) -> Any: ...
        def ripemd160(self, *, hex: bool = True) -> Any: ...


def _method(name: str) -> Callable[..., Any]:
    def digests(self: SeriesAccessor, *, hex: bool = True) -> Any:
        return self.digest(name, hex=hex)

    digests.__name__, digests.__qualname__ = name, f"SeriesAccessor.{name}"
    digests.__doc__ = f"Return the digests by {name}."
    return digests


for _name in algorithms:
    setattr(SeriesAccessor, _name, _method(_name))
