"""Digests in DuckDB's SQL. It needs duckdb, and numpy and pyarrow for its functions. ::

    import manyhash.duckdb

    manyhash.duckdb.register(connection)
    connection.sql("select manyhash_sha512(mail) from users")
"""

from collections.abc import Callable
from typing import Any

import duckdb
import pyarrow
from duckdb.func import PythonUDFType

from ._manyhash import algorithms, digest_column

__all__ = ["register"]


def register(connection: "duckdb.DuckDBPyConnection") -> None:
    """Add functions to a connection, for each algorithm two.

    ``manyhash_md5(VARCHAR)`` to ``manyhash_sha512_256(VARCHAR)`` give the digest in hexadecimal, and so do
    ``manyhash_md5_blob(BLOB)`` and its siblings of bytes. Null in, null out.
    """
    for name in algorithms:
        for suffix, kind in (("", "VARCHAR"), ("_blob", "BLOB")):
            function = f"manyhash_{name}{suffix}"
            connection.create_function(function, _hex(name), [kind], "VARCHAR", type=PythonUDFType.ARROW)


def _hex(name: str) -> Callable[[Any], Any]:
    def digests(column: Any) -> Any:
        result = digest_column(name, column, hex=True)
        return pyarrow.array(result) if hasattr(result, "__arrow_c_array__") else pyarrow.chunked_array(result)

    return digests
