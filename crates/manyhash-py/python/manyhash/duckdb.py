"""Digests in DuckDB's SQL. Needs duckdb, numpy and pyarrow. ::

    import manyhash.duckdb

    manyhash.duckdb.register(connection, key=secret)
    connection.sql("select manyhash_hmac_sha256(mail) from users")
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import duckdb
import pyarrow
from duckdb.func import PythonUDFType

from ._manyhash import Array, ChunkedArray, algorithms, digest_column, hmac_column

__all__ = ["register"]


def register(connection: "duckdb.DuckDBPyConnection", *, key: bytes | None = None) -> None:
    """Add functions to a connection: two for each algorithm, or four with a key.

    ``manyhash_md5(VARCHAR)``, ``manyhash_md5_blob(BLOB)`` and their siblings return the digest in hexadecimal. With a
    key, ``manyhash_hmac_md5(VARCHAR)``, ``manyhash_hmac_md5_blob(BLOB)`` and their siblings return HMACs under it; the
    key appears in no query. Nulls stay null. A second call replaces the functions.
    """
    for name in algorithms:
        _replace(connection, name, _function(partial(digest_column, name, hex=True)))
        if key is not None:
            # What the key is wrong for is known now, and not by the first query.
            hmac_column(key, name, pyarrow.array([], pyarrow.string()))
            _replace(connection, f"hmac_{name}", _function(partial(hmac_column, key, name, hex=True)))


def _replace(connection: "duckdb.DuckDBPyConnection", name: str, function: Callable[[Any], Any]) -> None:
    text, blob = connection.type("VARCHAR"), connection.type("BLOB")
    for suffix, kind in (("", text), ("_blob", blob)):
        function_name = f"manyhash_{name}{suffix}"
        try:
            connection.remove_function(function_name)
        except duckdb.InvalidInputException:
            # There is none.
            pass
        connection.create_function(function_name, function, [kind], text, type=PythonUDFType.ARROW)


def _function(hash_column: Callable[[Any], Array | ChunkedArray]) -> Callable[[Any], Any]:
    def digests(column: Any) -> Any:
        result = hash_column(column)
        return pyarrow.array(result) if hasattr(result, "__arrow_c_array__") else pyarrow.chunked_array(result)

    return digests
