"""Polars' expressions, beside hashlib."""

import hashlib
import hmac
import os
import random
import subprocess
import sys

import manyhash.polars
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st
from polars.testing import assert_series_equal

NAMES = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha512_256"]
names = pytest.mark.parametrize("name", NAMES)
ENGINES = ["in-memory", "streaming"]


def oracle(name, row):
    row = row.encode() if isinstance(row, str) else row
    return None if row is None else hashlib.new(name, row, usedforsecurity=False).digest()


def expected(name, series, hex):
    digests = [oracle(name, row) for row in series]
    dtype = pl.String if hex else pl.Binary
    return pl.Series(series.name, [digest and digest.hex() for digest in digests] if hex else digests, dtype)


def check(name, series):
    """The digests of a series, by a series, an expression, and lazily by both engines."""
    for hex in (False, True):
        digests = expected(name, series, hex)
        assert_series_equal(getattr(series.manyhash, name)(hex=hex), digests)
        frame = pl.DataFrame({"before": range(len(series))}).with_columns(series.alias("x"))
        query = frame.lazy().select(getattr(pl.col("x").manyhash, name)(hex=hex))
        assert query.collect_schema() == {"x": digests.dtype}
        for engine in ENGINES:
            assert_series_equal(query.collect(engine=engine)["x"], digests.alias("x"))


def ragged(rows, seed):
    rng = random.Random(seed)
    lengths = [rng.choice([0, 1, 11, 12, 13, 55, 56, 64, 111, 112, 128, rng.randrange(600)]) for _ in range(rows)]
    return [None if rng.random() < 0.1 else rng.randbytes(length) for length in lengths]


def text(rows):
    return [None if row is None else row.hex()[: len(row)] for row in rows]


@names
def test_ragged(name):
    rows = ragged(3000, name)
    check(name, pl.Series("x", rows, pl.Binary))
    check(name, pl.Series("text", text(rows), pl.String))
    check(name, pl.Series("äöü", ["äöü", None, "ß" * 100, ""]))


@names
def test_without_rows_or_values(name):
    for dtype in (pl.String, pl.Binary):
        check(name, pl.Series("x", [], dtype))
        check(name, pl.Series("x", [None], dtype))
        check(name, pl.Series("x", [None] * 5000, dtype))


@names
def test_slices_and_chunks(name):
    series = pl.Series("x", text(ragged(500, name)), pl.String)
    for start, length in ((0, 1), (1, 7), (3, 64), (77, 300), (499, 1), (500, 0)):
        check(name, series.slice(start, length))
    chunked = pl.concat([series.slice(5, 9), series.slice(0, 0), series, series.slice(201)], rechunk=False)
    assert chunked.n_chunks() > 1
    check(name, chunked)
    check(name, chunked.slice(3, 400))
    check(name, chunked.rechunk())
    check(name, series.gather_every(3))
    check(name, series.filter(series.str.len_bytes() > 50))
    assert getattr(chunked.manyhash, name)().n_chunks() == chunked.n_chunks()


@settings(max_examples=50, deadline=None)
@given(
    st.sampled_from(NAMES),
    st.lists(st.none() | st.binary(max_size=200), max_size=100),
    st.integers(0, 100),
    st.integers(0, 100),
)
def test_any_slice(name, rows, start, length):
    check(name, pl.Series("x", rows, pl.Binary).slice(start, length))


@pytest.mark.parametrize("hex", [False, True])
def test_more_rows_than_are_hashed_at_a_time(hex):
    rows = [None if i % 7 == 0 else b"%d" % i * (i % 5) for i in range(600_000)]
    series = pl.Series("x", rows, pl.Binary)
    digests = expected("md5", series, hex)
    frame = series.to_frame().lazy().select(pl.col("x").manyhash.md5(hex=hex))
    for engine in ENGINES:
        assert_series_equal(frame.collect(engine=engine)["x"], digests)
    assert_series_equal(series.slice(12_345).manyhash.md5(hex=hex), digests.slice(12_345))


def test_long_rows():
    check("sha1", pl.Series("x", [b"x" * 20_000_000, None, b"y", b"z" * 700_000, b""]))


def test_the_result_outlives_its_source():
    series = pl.Series("x", ["a", None, "b" * 20] * 1000)
    digests = expected("sha256", series, True)
    result = series.slice(1).manyhash.sha256(hex=True)
    del series
    part = result.slice(10, 500)
    del result
    assert_series_equal(part, digests.slice(11, 500))
    # Others read the buffers, too.
    array = part.to_arrow()
    array.validate(full=True)
    assert array.to_pylist() == part.to_list()


def test_a_null_has_no_digest_behind_it():
    result = pl.Series("x", ["a" * 20, None, "b"]).manyhash.sha256()
    assert result.null_count() == 1
    views = result.to_arrow(compat_level=pl.CompatLevel.newest()).buffers()[1].to_pybytes()
    assert views[16:32] == bytes(16)


@pytest.mark.skipif(int(pa.__version__.split(".")[0]) < 18, reason="this pyarrow makes no views of buffers")
def test_a_null_may_point_anywhere():
    data = pa.py_buffer(b"x" * 20)
    view = b"\x14\0\0\0xxxx\0\0\0\0\0\0\0\0"
    wild = b"\x14\0\0\0xxxx" + b"\xff" * 8
    array = pa.Array.from_buffers(pa.binary_view(), 2, [pa.py_buffer(b"\1"), pa.py_buffer(view + wild), data])
    series = pl.Series("x", pl.from_arrow(array))
    assert series.manyhash.md5().to_list() == [oracle("md5", b"x" * 20), None]


@names
@pytest.mark.parametrize("engine", ENGINES)
def test_queries(name, engine):
    rows = text(ragged(2000, name))
    frame = pl.DataFrame({"x": pl.Series(rows, dtype=pl.String), "group": [i % 7 for i in range(len(rows))]})
    digest = getattr(pl.col("x").manyhash, name)
    frame = frame.with_columns(expected=expected(name, frame["x"], True))

    def collect(query):
        return query.collect(engine=engine)

    found = collect(frame.lazy().with_columns(found=digest(hex=True)).filter(pl.col("found") == pl.col("expected")))
    assert len(found) == frame["x"].count()
    groups = collect(frame.lazy().group_by("group").agg(digest(hex=True), pl.col("expected")).sort("group"))
    assert groups["x"].to_list() == groups["expected"].to_list()
    first = [digest(hex=True).drop_nulls().first(), pl.col("expected").drop_nulls().first()]
    groups = collect(frame.lazy().group_by("group").agg(first).sort("group"))
    assert groups["x"].to_list() == groups["expected"].to_list()
    over = [digest(hex=True).max().over("group").alias("a"), pl.col("expected").max().over("group").alias("b")]
    assert collect(frame.lazy().select(a=over[0] == over[1])).to_series().all()
    spread = collect(frame.lazy().select(digest(hex=True).over("group")))
    assert spread["x"].to_list() == frame["expected"].to_list()
    unique = collect(frame.lazy().select(digest().n_unique(), expected=pl.col("expected").n_unique()))
    assert unique["x"].item() == unique["expected"].item()
    joined = collect(frame.lazy().join(frame.lazy(), left_on=digest(hex=True), right_on="expected"))
    assert set(joined["x"]) == set(frame["x"].drop_nulls())


@pytest.mark.parametrize("engine", ENGINES)
def test_literals(engine):
    digest = oracle("sha256", "a").hex()
    frame = pl.LazyFrame({"x": ["b", None, "c"]})
    one = pl.lit("a").manyhash.sha256(hex=True)
    assert frame.with_columns(y=one).collect(engine=engine)["y"].to_list() == [digest] * 3
    assert frame.select(y=one).collect(engine=engine)["y"].to_list() == [digest]
    assert frame.filter(pl.lit(b"a").manyhash.sha256() == oracle("sha256", "a")).collect(engine=engine).height == 3
    nothing = pl.lit(None, pl.String).manyhash.sha256()
    assert frame.with_columns(y=nothing).collect(engine=engine)["y"].to_list() == [None] * 3
    both = frame.with_columns(y=pl.concat_str("x", pl.lit("a")).manyhash.md5()).collect(engine=engine)
    assert both["y"].to_list() == [oracle("md5", "ba"), None, oracle("md5", "ca")]
    literal = pl.lit(pl.Series("s", ["a", None])).manyhash.sha256(hex=True)
    assert pl.select(literal).to_series().to_list() == [digest, None]


@pytest.mark.parametrize("name", ["x", "", "^x$", "^.*$", "*", "a\nb"])
def test_names_of_columns(name):
    digests = pl.Series(name, ["a"]).manyhash.md5()
    assert (digests.name, digests.to_list()) == (name, [oracle("md5", "a")])


OTHERS = {
    "Int64": pl.Series([1]),
    "Float32": pl.Series([1.5], dtype=pl.Float32),
    "Boolean": pl.Series([True]),
    "Date32": pl.Series([1]).cast(pl.Date),
    "Timestamp": pl.Series([1]).cast(pl.Datetime),
    "Decimal": pl.Series([1]).cast(pl.Decimal(10, 2)),
    "Categorical": pl.Series(["a"], dtype=pl.Categorical),
    "Enum": pl.Series(["a"], dtype=pl.Enum(["a"])),
    "List": pl.Series([["a"]]),
    "Struct": pl.Series([{"a": "b"}]),
    "128": pl.Series([1], dtype=pl.Int128),
    "": pl.Series([object()]),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_other_types(kind):
    message = f"cannot hash a column of type .*{kind}.*; cast it to String or Binary"
    with pytest.raises(pl.exceptions.ComputeError, match=message):
        OTHERS[kind].manyhash.sha256()
    query = OTHERS[kind].to_frame("x").lazy().select(pl.col("x").manyhash.sha256())
    with pytest.raises(pl.exceptions.ComputeError, match=message):
        query.collect_schema()


def test_nulls_of_no_type():
    assert pl.Series([None, None]).manyhash.md5().to_list() == [None, None]
    digests = pl.select(pl.lit(None).manyhash.sha256(hex=True)).to_series()
    assert (digests.dtype, digests.to_list()) == (pl.String, [None])


def test_a_name_of_any_characters():
    for name in ["", "^x.*$", "a\0b", "*"]:
        digests = pl.Series(name, ["a"]).manyhash.md5()
        assert (digests.name, digests.to_list()) == (name, [oracle("md5", b"a")])


@names
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("key", [b"", b"key", b"k" * 200], ids=len)
def test_under_a_key(name, engine, key):
    rows = ["a", None, "x" * 500, ""] * 5000
    tags = [None if row is None else hmac.digest(key, row.encode(), name) for row in rows[:4]] * 5000
    frame = pl.LazyFrame({"x": rows, "group": [i % 3 for i in range(len(rows))]})
    found = frame.select(
        tag=pl.col("x").manyhash.hmac(key, name), hex=pl.col("x").manyhash.hmac(key, name, hex=True)
    ).collect(engine=engine)
    assert found["tag"].to_list() == tags
    assert found["hex"].to_list() == [tag and tag.hex() for tag in tags]
    assert pl.Series("s", rows).manyhash.hmac(key, name).to_list() == tags
    assert frame.limit(0).select(pl.col("x").manyhash.hmac(key, name)).collect(engine=engine).height == 0
    grouped = frame.group_by("group", maintain_order=True).agg(pl.col("x").manyhash.hmac(key, name)).collect(engine=engine)
    assert grouped["x"].to_list() == [tags[i::3] for i in range(3)]


def test_a_key_is_bytes():
    with pytest.raises(TypeError, match="the key must be bytes, not str"):
        pl.col("x").manyhash.hmac("key", "md5")
    with pytest.raises(ValueError, match="unsupported hash type"):
        pl.col("x").manyhash.hmac(b"key", "md6")
    assert pl.Series(["a"]).manyhash.hmac(b"key", "SHA-256")[0] == hmac.digest(b"key", b"a", "sha256")


def test_one_column_only():
    library = os.path.dirname(manyhash.polars.__file__)
    columns = [pl.lit("a"), pl.lit("b")]
    both = pl.plugins.register_plugin_function(plugin_path=library, function_name="md5", args=columns)
    with pytest.raises(pl.exceptions.ComputeError, match="expected one column"):
        pl.select(both)


def test_what_is_documented():
    for namespace in (manyhash.polars.ExprNamespace, manyhash.polars.SeriesNamespace):
        assert namespace.__doc__
        public = {name: member for name, member in vars(namespace).items() if not name.startswith("_")}
        assert {*public} == {*manyhash.algorithms_available, "hmac"}
        assert all(member.__doc__ for member in public.values())


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, *arguments], env={**os.environ, **environment}, capture_output=True, text=True
    )


def test_types(tmp_path):
    script = tmp_path / "typed.py"
    script.write_text(
        "import polars as pl\n"
        "from manyhash.polars import ExprNamespace, SeriesNamespace\n"
        "from typing import assert_type\n"
        "assert_type(ExprNamespace(pl.col('x')).sha256(hex=True), pl.Expr)\n"
        "assert_type(SeriesNamespace(pl.Series(['x'])).md5(), pl.Series)\n"
    )
    result = run("-m", "mypy", "--strict", "--cache-dir", os.devnull, str(script))
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("threads", ["1", "2", "many"])
def test_threads_of_polars(threads):
    code = (
        "import manyhash.polars, hashlib, os, polars as pl\n"
        "rows = ['row %d' % i for i in range(400_000)]\n"
        "digests = pl.Series(rows).manyhash.sha256()\n"
        "assert digests.to_list() == [hashlib.sha256(row.encode()).digest() for row in rows]\n"
        "names = [open(f'/proc/self/task/{task}/comm').read() for task in os.listdir('/proc/self/task')]\n"
        "print(sum(name.startswith('manyhash') for name in names))\n"
    )
    environment = {} if threads == "many" else {"POLARS_MAX_THREADS": threads}
    result = run("-c", code, **environment)
    assert result.returncode == 0, result.stderr
    if threads == "1":
        assert result.stdout == "0\n"
    elif len(os.sched_getaffinity(0)) > 1:
        assert int(result.stdout) > 0


@pytest.mark.parametrize("backend", ["nonsense", "portable"])
def test_a_forced_backend(backend):
    code = "import manyhash.polars, polars as pl; assert pl.Series(['a'] * 99).manyhash.md5().n_unique() == 1"
    result = run("-c", code, MANYHASH_BACKEND=backend)
    if backend == "portable":
        assert result.returncode == 0, result.stderr
    else:
        assert "ImportError" in result.stderr
        assert "MANYHASH_BACKEND" in result.stderr


@pytest.mark.skipif("MANYHASH_SLOW" not in os.environ, reason="takes 6 GB of memory; MANYHASH_SLOW=1 runs it")
def test_more_digests_than_one_buffer_holds():
    rows = 2**31 // 128 + 1000
    digests = pl.int_range(rows, eager=True).cast(pl.String).manyhash.sha512(hex=True)
    for row in [0, 1, *range(rows - 1010, rows)]:
        assert digests[row] == oracle("sha512", str(row)).hex()
    assert (digests.str.len_bytes() == 128).all()
