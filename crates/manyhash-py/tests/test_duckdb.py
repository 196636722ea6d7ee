"""Functions in DuckDB's SQL."""

import hashlib
import hmac

import duckdb
import manyhash.duckdb
import pytest

from test_hashlib import NAMES, oracle


@pytest.fixture(scope="module")
def connection():
    connection = duckdb.connect()
    manyhash.duckdb.register(connection)
    return connection


@pytest.mark.parametrize("name", NAMES)
def test_functions(connection, name):
    values = "(values (1, 'a'), (2, NULL), (3, 'äöü')) as t(i, x)"
    rows = connection.sql(f"select manyhash_{name}(x) from {values} order by i").fetchall()
    assert rows == [(oracle(name, b"a").hexdigest(),), (None,), (oracle(name, "äöü".encode()).hexdigest(),)]
    rows = connection.sql(f"select manyhash_{name}_blob(encode(x)) from {values} order by i").fetchall()
    assert rows == [(oracle(name, b"a").hexdigest(),), (None,), (oracle(name, "äöü".encode()).hexdigest(),)]


def test_many_rows(connection):
    query = "select i, manyhash_sha256(x) from (select range as i, 'row ' || range as x from range(100000)) order by i"
    assert connection.sql(query).fetchall() == [
        (i, hashlib.sha256(b"row %d" % i).hexdigest()) for i in range(100_000)
    ]
    assert connection.sql("select manyhash_md5(x) from (select 'a' as x where false)").fetchall() == []


@pytest.mark.parametrize("name", NAMES)
def test_under_a_key(name):
    connection = duckdb.connect()
    manyhash.duckdb.register(connection, key=b"key")
    query = f"select manyhash_hmac_{name}(x), manyhash_hmac_{name}_blob(encode(x)), manyhash_{name}(x) from (values ('a')) as t(x)"
    tag = hmac.digest(b"key", b"a", name).hex()
    assert connection.sql(query).fetchall() == [(tag, tag, oracle(name, b"a").hexdigest())]


def test_registered_again():
    connection = duckdb.connect()
    for key in (b"one", b"two"):
        manyhash.duckdb.register(connection, key=key)
        expected = [(hmac.digest(key, b"a", "sha256").hex(), hashlib.md5(b"a").hexdigest())]
        assert connection.sql("select manyhash_hmac_sha256('a'), manyhash_md5('a')").fetchall() == expected
    with pytest.raises(TypeError, match="Strings must be encoded"):
        manyhash.duckdb.register(connection, key="text")
