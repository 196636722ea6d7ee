"""Digests in Polars expressions. Importing this adds the namespace ``manyhash`` to expressions and series. ::

    import manyhash.polars

    frame.with_columns(token=pl.col("mail").manyhash.sha256(hex=True))

Needs Polars. A column must be of type String or Binary; any other raises an error that names the type. Nulls stay null.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars
from polars.plugins import register_plugin_function

from ._manyhash import algorithms, new

__all__ = ["ExprNamespace", "SeriesNamespace"]

_LIBRARY = Path(__file__).parent


@polars.api.register_expr_namespace("manyhash")
class ExprNamespace:
    """The digests of an expression, as Binary, or as hexadecimal String with ``hex=True``."""

    def __init__(self, expr: polars.Expr) -> None:
        self._expr = expr

    if TYPE_CHECKING:
        # For type checkers; made below.
        def md5(self, *, hex: bool = False) -> polars.Expr: ...
        def sha1(self, *, hex: bool = False) -> polars.Expr: ...
        def sha224(self, *, hex: bool = False) -> polars.Expr: ...
        def sha256(self, *, hex: bool = False) -> polars.Expr: ...
        def sha384(self, *, hex: bool = False) -> polars.Expr: ...
        def sha512(self, *, hex: bool = False) -> polars.Expr: ...
        def sha512_256(self, *, hex: bool = False) -> polars.Expr: ...
        def sha3_224(self, *, hex: bool = False) -> polars.Expr: ...
        def sha3_256(self, *, hex: bool = False) -> polars.Expr: ...
        def sha3_384(self, *, hex: bool = False) -> polars.Expr: ...
        def sha3_512(self, *, hex: bool = False) -> polars.Expr: ...
        def keccak256(self, *, hex: bool = False) -> polars.Expr: ...
        def sm3(self, *, hex: bool = False) -> polars.Expr: ...
        def ripemd160(self, *, hex: bool = False) -> polars.Expr: ...

    def hmac(self, key: bytes, name: str, *, hex: bool = False) -> polars.Expr:
        """Return the HMACs under a key by a named algorithm: pseudonyms that cannot be traced back without the key.

        The key is part of the expression, so a serialised or printed plan reveals it.
        """
        if not isinstance(key, bytes):
            raise TypeError(f"the key must be bytes, not {type(key).__name__}")
        return _evaluate([self._expr, polars.lit(key)], f"hmac_{new(name).name}", hex)

    def _digest(self, name: str, hex: bool) -> polars.Expr:
        return _evaluate([self._expr], name, hex)


def _evaluate(args: list[polars.Expr], name: str, hex: bool) -> polars.Expr:
    return register_plugin_function(
        plugin_path=_LIBRARY,
        function_name=f"{name}_hex" if hex else name,
        args=args,
        is_elementwise=True,
    )


@polars.api.register_series_namespace("manyhash")
class SeriesNamespace:
    """The digests of a series, as Binary, or as hexadecimal String with ``hex=True``."""

    def __init__(self, series: polars.Series) -> None:
        self._series = series

    if TYPE_CHECKING:
        # For type checkers; made below.
        def md5(self, *, hex: bool = False) -> polars.Series: ...
        def sha1(self, *, hex: bool = False) -> polars.Series: ...
        def sha224(self, *, hex: bool = False) -> polars.Series: ...
        def sha256(self, *, hex: bool = False) -> polars.Series: ...
        def sha384(self, *, hex: bool = False) -> polars.Series: ...
        def sha512(self, *, hex: bool = False) -> polars.Series: ...
        def sha512_256(self, *, hex: bool = False) -> polars.Series: ...
        def sha3_224(self, *, hex: bool = False) -> polars.Series: ...
        def sha3_256(self, *, hex: bool = False) -> polars.Series: ...
        def sha3_384(self, *, hex: bool = False) -> polars.Series: ...
        def sha3_512(self, *, hex: bool = False) -> polars.Series: ...
        def keccak256(self, *, hex: bool = False) -> polars.Series: ...
        def sm3(self, *, hex: bool = False) -> polars.Series: ...
        def ripemd160(self, *, hex: bool = False) -> polars.Series: ...

    def hmac(self, key: bytes, name: str, *, hex: bool = False) -> polars.Series:
        """Return the HMACs under a key by a named algorithm: pseudonyms that cannot be traced back without the key."""
        return self._evaluate(ExprNamespace(polars.nth(0)).hmac(key, name, hex=hex))

    def _digest(self, name: str, hex: bool) -> polars.Series:
        return self._evaluate(ExprNamespace(polars.nth(0))._digest(name, hex))

    def _evaluate(self, expr: polars.Expr) -> polars.Series:
        # Under no name: one may look like a pattern, or have a NUL, which Arrow's interface has no place for.
        return self._series.alias("").to_frame().select(expr).to_series().alias(self._series.name)


def _method(namespace: type, name: str) -> Callable[..., Any]:
    def digests(self: Any, *, hex: bool = False) -> Any:
        return self._digest(name, hex)

    digests.__name__, digests.__qualname__ = name, f"{namespace.__name__}.{name}"
    digests.__doc__ = f"Return the digests by {name}."
    return digests


for _namespace in (ExprNamespace, SeriesNamespace):
    for _name in algorithms:
        setattr(_namespace, _name, _method(_namespace, _name))
