"""Digests of pandas' series: importing this adds the accessor ``manyhash`` to every series.

It needs pandas and pyarrow. ::

    import manyhash.pandas

    frame["token"] = frame["mail"].manyhash.sha256()
"""

from collections.abc import Callable
from typing import Any

import pandas
import pyarrow

from ._manyhash import Array, ChunkedArray, digest_column, hmac_column

__all__ = ["SeriesAccessor"]


@pandas.api.extensions.register_series_accessor("manyhash")
class SeriesAccessor:
    """The digests of a series of str or bytes, as a series backed by pyarrow with the same index and name.

    They are in hexadecimal, or, with ``hex=False``, bytes. What is missing stays missing.
    """

    def __init__(self, series: Any) -> None:
        self._series = series

    def digest(self, name: str, *, hex: bool = True) -> Any:
        """The digests by the name of an algorithm."""
        return self._of_column(lambda values: digest_column(name, values, hex=hex))

    def hmac(self, key: bytes, name: str, *, hex: bool = True) -> Any:
        """The HMACs under a key by the name of an algorithm: pseudonyms that nobody finds the values of without it."""
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

    def md5(self, *, hex: bool = True) -> Any:
        """The MD5 digests."""
        return self.digest("md5", hex=hex)

    def sha1(self, *, hex: bool = True) -> Any:
        """The SHA-1 digests."""
        return self.digest("sha1", hex=hex)

    def sha224(self, *, hex: bool = True) -> Any:
        """The SHA-224 digests."""
        return self.digest("sha224", hex=hex)

    def sha256(self, *, hex: bool = True) -> Any:
        """The SHA-256 digests."""
        return self.digest("sha256", hex=hex)

    def sha384(self, *, hex: bool = True) -> Any:
        """The SHA-384 digests."""
        return self.digest("sha384", hex=hex)

    def sha512(self, *, hex: bool = True) -> Any:
        """The SHA-512 digests."""
        return self.digest("sha512", hex=hex)

    def sha512_256(self, *, hex: bool = True) -> Any:
        """The SHA-512/256 digests."""
        return self.digest("sha512_256", hex=hex)
