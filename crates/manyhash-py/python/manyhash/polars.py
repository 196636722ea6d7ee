"""Digests in Polars' expressions: importing this adds the namespace ``manyhash`` to expressions and series.

It needs the package manyhash-polars, which is all of it. ::

    import manyhash.polars

    frame.with_columns(token=pl.col("mail").manyhash.sha256(hex=True))
"""

try:
    from manyhash_polars import ExprNamespace, SeriesNamespace
except ModuleNotFoundError as _error:
    if _error.name != "manyhash_polars":
        raise
    raise ImportError("manyhash.polars needs the package manyhash-polars: install manyhash[polars]") from _error

__all__ = ["ExprNamespace", "SeriesNamespace"]
