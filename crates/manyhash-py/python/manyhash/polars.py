"""Digests in Polars' expressions: importing this adds the namespace ``manyhash`` to expressions and series. ::

    import manyhash.polars

    frame.with_columns(token=pl.col("mail").manyhash.sha256(hex=True))

It needs Polars. A column is of type String or Binary; any other is an error, which names it. Null in, null out.
"""

from pathlib import Path

import polars
from polars.plugins import register_plugin_function

from ._manyhash import new

__all__ = ["ExprNamespace", "SeriesNamespace"]

_LIBRARY = Path(__file__).parent


@polars.api.register_expr_namespace("manyhash")
class ExprNamespace:
    """The digests of an expression, as Binary, or, with ``hex=True``, as String in hexadecimal."""

    def __init__(self, expr: polars.Expr) -> None:
        self._expr = expr

    def md5(self, *, hex: bool = False) -> polars.Expr:
        """The MD5 digests."""
        return self._digest("md5", hex)

    def sha1(self, *, hex: bool = False) -> polars.Expr:
        """The SHA-1 digests."""
        return self._digest("sha1", hex)

    def sha224(self, *, hex: bool = False) -> polars.Expr:
        """The SHA-224 digests."""
        return self._digest("sha224", hex)

    def sha256(self, *, hex: bool = False) -> polars.Expr:
        """The SHA-256 digests."""
        return self._digest("sha256", hex)

    def sha384(self, *, hex: bool = False) -> polars.Expr:
        """The SHA-384 digests."""
        return self._digest("sha384", hex)

    def sha512(self, *, hex: bool = False) -> polars.Expr:
        """The SHA-512 digests."""
        return self._digest("sha512", hex)

    def sha512_256(self, *, hex: bool = False) -> polars.Expr:
        """The SHA-512/256 digests."""
        return self._digest("sha512_256", hex)

    def hmac(self, key: bytes, name: str, *, hex: bool = False) -> polars.Expr:
        """The HMACs under a key by the name of an algorithm: pseudonyms that nobody finds the values of without it.

        The key is part of the expression: whoever serialises the plan, or prints it, has it.
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
    """The digests of a series, as Binary, or, with ``hex=True``, as String in hexadecimal."""

    def __init__(self, series: polars.Series) -> None:
        self._series = series

    def md5(self, *, hex: bool = False) -> polars.Series:
        """The MD5 digests."""
        return self._digest("md5", hex)

    def sha1(self, *, hex: bool = False) -> polars.Series:
        """The SHA-1 digests."""
        return self._digest("sha1", hex)

    def sha224(self, *, hex: bool = False) -> polars.Series:
        """The SHA-224 digests."""
        return self._digest("sha224", hex)

    def sha256(self, *, hex: bool = False) -> polars.Series:
        """The SHA-256 digests."""
        return self._digest("sha256", hex)

    def sha384(self, *, hex: bool = False) -> polars.Series:
        """The SHA-384 digests."""
        return self._digest("sha384", hex)

    def sha512(self, *, hex: bool = False) -> polars.Series:
        """The SHA-512 digests."""
        return self._digest("sha512", hex)

    def sha512_256(self, *, hex: bool = False) -> polars.Series:
        """The SHA-512/256 digests."""
        return self._digest("sha512_256", hex)

    def hmac(self, key: bytes, name: str, *, hex: bool = False) -> polars.Series:
        """The HMACs under a key by the name of an algorithm: pseudonyms that nobody finds the values of without it."""
        return self._evaluate(ExprNamespace(polars.nth(0)).hmac(key, name, hex=hex))

    def _digest(self, name: str, hex: bool) -> polars.Series:
        return self._evaluate(ExprNamespace(polars.nth(0))._digest(name, hex))

    def _evaluate(self, expr: polars.Expr) -> polars.Series:
        # Under no name: one may look like a pattern, or have a NUL, which Arrow's interface has no place for.
        return self._series.alias("").to_frame().select(expr).to_series().alias(self._series.name)
