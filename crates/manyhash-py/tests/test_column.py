"""Arrow columns, from and to whatever speaks Arrow."""

import hashlib

import duckdb
import manyhash
import nanoarrow
import pandas
import polars
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from test_hashlib import NAMES, oracle

TYPES = [
    pa.binary(),
    pa.large_binary(),
    pa.binary_view(),
    pa.string(),
    pa.large_string(),
    pa.string_view(),
]
ROWS = ["", "a", None, "x" * 12, "y" * 13, "z" * 300, None, "ä", "0" * 20_000]


def digests(name, rows):
    return [None if row is None else oracle(name, row if isinstance(row, bytes) else row.encode()).digest() for row in rows]


def cast(rows, kind):
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == pa.string_view():
        return pa.array(rows, kind)
    return pa.array([row if row is None else row.encode() for row in rows], kind)


def check(name, array):
    expected = digests(name, array.to_pylist())
    result = manyhash.digest_column(name, array)
    assert len(result) == len(expected)
    back = pa.chunked_array(result) if isinstance(array, pa.ChunkedArray) else pa.array(result)
    back.validate(full=True)
    assert back.type == pa.binary(manyhash.new(name).digest_size)
    assert back.to_pylist() == expected
    assert back.null_count == array.null_count
    result = manyhash.digest_column(name, array, hex=True)
    back = pa.chunked_array(result) if isinstance(array, pa.ChunkedArray) else pa.array(result)
    back.validate(full=True)
    assert back.type == pa.string()
    assert back.to_pylist() == [row if row is None else row.hex() for row in expected]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_types(name, kind):
    array = cast(ROWS, kind)
    check(name, array)
    for start in range(len(ROWS)):
        check(name, array[start : start + 3])
    check(name, array[:0])
    check(name, cast([], kind))
    check(name, cast([None] * 9, kind))
    check(name, cast(["a", "b"], kind))
    check(name, pa.chunked_array([array, array[2:5], array[:0], array[3:]]))
    check(name, pa.chunked_array([array, array])[3:12])
    check(name, pa.chunked_array([], kind))


@settings(max_examples=50)
@given(
    st.sampled_from(NAMES),
    st.sampled_from(TYPES),
    st.lists(st.none() | st.text(max_size=100), max_size=100),
    st.integers(0, 100),
    st.integers(0, 100),
)
def test_any_slice(name, kind, rows, start, length):
    check(name, cast(rows, kind)[start : start + length])


@pytest.mark.parametrize("width", [0, 1, 16, 64, 1000])
def test_fixed_width(width):
    rows = [bytes([i]) * width if i % 3 else None for i in range(40)]
    array = pa.array(rows, pa.binary(width))
    for part in (array, array[1:], array[7:20], array[:0], array[:1]):
        check("sha256", part)


def test_many_rows():
    rows = [None if i % 7 == 0 else "%d" % i * (i % 5) for i in range(200_003)]
    check("md5", pa.array(rows))
    check("sha256", pa.array(rows, pa.string_view())[5:])


def test_long_rows():
    check("sha1", pa.array([b"x" * 5_000_000, None, b"y", b"z" * 700_000]))


@pytest.mark.parametrize(
    "array",
    [
        pa.array([1, 2]),
        pa.array([1.5]),
        pa.array([["a"]]),
        pa.array(["a"]).dictionary_encode(),
        pa.chunked_array([], pa.int8()),
        pa.table({"a": ["x"], "b": ["y"]}),
    ],
    ids=lambda array: str(getattr(array, "type", "table")),
)
def test_other_types(array):
    with pytest.raises(TypeError, match="cannot hash a column of type (Int|Float|List|Dictionary|Struct)"):
        manyhash.digest_column("sha256", array)


def test_nulls_of_no_type():
    digests = pa.array(manyhash.digest_column("sha256", pa.nulls(3)))
    assert (digests.type, digests.to_pylist()) == (pa.binary(32), [None] * 3)


def test_what_is_no_array():
    for wrong in (b"bytes", ["a"], None):
        with pytest.raises(TypeError, match="__arrow_c_array__ or __arrow_c_stream__, not"):
            manyhash.digest_column("sha256", wrong)
    with pytest.raises(ValueError, match="unsupported hash type"):
        manyhash.digest_column("md6", pa.array(["a"]))


def test_polars():
    series = polars.Series("x", ROWS)
    result = manyhash.digest_column("sha256", series)
    assert polars.Series(result).to_list() == digests("sha256", ROWS)
    assert polars.Series(manyhash.digest_column("sha256", series.slice(3, 4), hex=True)).to_list() == [
        row if row is None else row.hex() for row in digests("sha256", ROWS[3:7])
    ]
    assert polars.Series(manyhash.digest_column("md5", series.cast(polars.Binary))).to_list() == digests("md5", ROWS)


def test_pandas():
    series = pandas.Series(ROWS, dtype=pandas.ArrowDtype(pa.string()))
    assert pa.chunked_array(manyhash.digest_column("sha256", series)).to_pylist() == digests("sha256", ROWS)


def test_nanoarrow():
    array = nanoarrow.c_array(["a", None, "b"], nanoarrow.string())
    assert nanoarrow.Array(manyhash.digest_column("sha1", array)).to_pylist() == digests("sha1", ["a", None, "b"])


def test_duckdb():
    result = duckdb.sql("select 'row ' || range as x from range(5000)")
    expected = digests("sha256", [f"row {i}" for i in range(5000)])
    assert pa.chunked_array(manyhash.digest_column("sha256", result)).to_pylist() == expected
    assert pa.chunked_array(manyhash.digest_column("sha256", pa.table({"x": ["a", None]}))).to_pylist() == [
        hashlib.sha256(b"a").digest(),
        None,
    ]


def test_the_result_outlives_its_source():
    array = pa.array(["a", None, "b"] * 1000)
    expected = digests("md5", array.to_pylist())
    result = manyhash.digest_column("md5", array[1:])
    del array
    exported = result.__arrow_c_array__()
    del result, exported
    result = manyhash.digest_column("md5", pa.array(["a", None, "b"] * 1000))
    assert pa.array(result).to_pylist() == expected
    assert repr(result) == "<manyhash.Array of 3000 FixedSizeBinary(16)>"
