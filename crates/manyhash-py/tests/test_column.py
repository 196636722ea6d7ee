"""Arrow columns, from and to whatever speaks Arrow."""

import ctypes
import functools
import hashlib
import hmac

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


@pytest.mark.parametrize("nulls", [polars.Series([None, None]), pa.chunked_array([pa.nulls(1), pa.nulls(1)])], ids=type)
def test_chunks_of_nulls_of_no_type(nulls):
    digests = pa.chunked_array(manyhash.digest_column("sha256", nulls))
    assert (digests.type, digests.to_pylist()) == (pa.binary(32), [None] * 2)


def test_a_table_of_nulls_of_no_type():
    table = polars.DataFrame({"x": [None, None]})
    assert pa.chunked_array(manyhash.digest_column("md5", table, hex=True)).to_pylist() == [None] * 2


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("key", [b"", b"key", bytearray(b"k" * 200)], ids=len)
def test_under_a_key(name, key):
    expected = [None if row is None else hmac.digest(key, row.encode(), name) for row in ROWS]
    array = pa.array(ROWS)
    assert pa.array(manyhash.hmac_column(key, name, array)).to_pylist() == expected
    hexadecimal = pa.chunked_array(manyhash.hmac_column(key, name, pa.chunked_array([array, array[1:]]), hex=True))
    assert hexadecimal.to_pylist() == [row and row.hex() for row in expected + expected[1:]]
    assert len(manyhash.hmac_column(key, name, array[:0])) == 0
    with pytest.raises(TypeError, match="Strings must be encoded"):
        manyhash.hmac_column("key", name, array)


class Malformed:
    """An array by Arrow's C data interface, that anything may be wrong with."""

    def __init__(self, kind=b"u", length=1, null_count=0, buffers=3, children=0):
        self.schema, self.array, self.keep = Schema(), Array(), []
        self.keep.append(RELEASE(lambda pointer: None))
        self.schema.format, self.schema.name, self.schema.flags = kind, b"", 2
        self.schema.n_children = self.array.n_children = children
        self.schema.release = self.array.release = ctypes.cast(self.keep[0], ctypes.c_void_p)
        bits, offsets, values = ctypes.create_string_buffer(8), (ctypes.c_int32 * 2)(0, 1), ctypes.create_string_buffer(b"a")
        pointers = (ctypes.c_void_p * 4)(*(ctypes.cast(part, ctypes.c_void_p) for part in (bits, offsets, values, bits)))
        self.keep += [bits, offsets, values, pointers]
        self.array.length, self.array.null_count, self.array.n_buffers = length, null_count, buffers
        self.array.buffers = ctypes.cast(pointers, ctypes.c_void_p)

    def __arrow_c_array__(self, requested_schema=None):
        return capsule(ctypes.addressof(self.schema), b"arrow_schema"), capsule(ctypes.addressof(self.array), b"arrow_array")


capsule = ctypes.pythonapi.PyCapsule_New
capsule.restype, capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
capsule = functools.partial(lambda new, pointer, name: new(pointer, name, None), capsule)
RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Schema(ctypes.Structure):
    _fields_ = [
        ("format", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
        ("metadata", ctypes.c_void_p),
        ("flags", ctypes.c_int64),
        ("n_children", ctypes.c_int64),
        ("children", ctypes.c_void_p),
        ("dictionary", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("private_data", ctypes.c_void_p),
    ]


class Array(ctypes.Structure):
    _fields_ = [
        ("length", ctypes.c_int64),
        ("null_count", ctypes.c_int64),
        ("offset", ctypes.c_int64),
        ("n_buffers", ctypes.c_int64),
        ("n_children", ctypes.c_int64),
        ("buffers", ctypes.c_void_p),
        ("children", ctypes.c_void_p),
        ("dictionary", ctypes.c_void_p),
        ("release", ctypes.c_void_p),
        ("private_data", ctypes.c_void_p),
    ]


def test_an_array_by_hand():
    assert pa.array(manyhash.digest_column("md5", Malformed())).to_pylist() == digests("md5", ["a"])


@pytest.mark.parametrize(
    "wrong",
    [{"length": -1}, {"kind": b"\xff\xfe"}, {"buffers": 1}, {"length": -(2**62)}],
    ids=str,
)
def test_malformed_arrays(wrong):
    with pytest.raises(ValueError):
        manyhash.digest_column("md5", Malformed(**wrong))


def hostile(schema={}, array={}, pointers={}, **wrong):
    """A malformed array with these fields of its structures, and these of its buffers, as they should not be."""
    malformed = Malformed(**wrong)
    buffers = (ctypes.c_void_p * 4).from_address(malformed.array.buffers)
    for index, pointer in pointers.items():
        buffers[index] = pointer
    for structure, fields in (malformed.schema, schema), (malformed.array, array):
        for field, value in fields.items():
            setattr(structure, field, value)
    return malformed


@pytest.mark.parametrize(
    "wrong",
    [
        {"schema": {"release": None}},
        {"array": {"release": None}},
        {"schema": {"format": None}},
        {"array": {"buffers": None}},
        {"array": {"offset": -1}},
        {"array": {"offset": 2**63 - 1}},
        {"array": {"length": 2**62}},
        {"array": {"n_buffers": -1}},
        {"array": {"n_children": -1}},
        {"pointers": {1: None}},
        {"kind": b"z", "pointers": {1: None}},
        {"kind": b"U", "pointers": {1: None}},
        {"kind": b"w:4", "buffers": 2, "pointers": {1: None}},
        {"kind": b"w:-4", "buffers": 2},
        {"kind": b"vu", "buffers": 2},
        {"kind": b"vz", "buffers": 4, "pointers": {3: None}},
        {"kind": b"+s", "buffers": 1, "children": 1},
        {"kind": b"n", "buffers": 3},
    ],
    ids=str,
)
def test_hostile_arrays(wrong):
    with pytest.raises((TypeError, ValueError)):
        manyhash.digest_column("md5", hostile(**wrong))


def test_an_offset_before_the_values():
    offsets = (ctypes.c_int32 * 2)(0, -1)
    with pytest.raises(ValueError, match="negative offset"):
        manyhash.digest_column("md5", hostile(pointers={1: ctypes.addressof(offsets)}))


def test_more_nulls_than_memory():
    with pytest.raises(MemoryError):
        manyhash.digest_column("sha512", hostile(kind=b"n", length=2**55, buffers=0))


@pytest.mark.parametrize("method", ["__arrow_c_array__", "__arrow_c_stream__"])
@pytest.mark.parametrize("given", [None, 1, (), (1, 2), (1, 2, 3), "no capsule"], ids=str)
def test_what_is_no_capsule(method, given):
    wrong = type("Wrong", (), {method: lambda self, requested_schema=None: given})()
    with pytest.raises((TypeError, ValueError)):
        manyhash.digest_column("md5", wrong)


def test_capsules_of_other_names():
    for capsules in (
        Malformed().__arrow_c_array__()[::-1],
        (pa.array(["a"]).__arrow_c_array__()[0], pa.chunked_array([["a"]]).__arrow_c_stream__()),
    ):
        swapped = type("Swapped", (), {"__arrow_c_array__": lambda self, requested_schema=None: capsules})()
        with pytest.raises(ValueError):
            manyhash.digest_column("md5", swapped)
    stream = type("Array", (), {"__arrow_c_stream__": lambda self, requested_schema=None: capsules[0]})()
    with pytest.raises(ValueError):
        manyhash.digest_column("md5", stream)


def test_what_the_method_raises_is_raised():
    class Raises:
        def __arrow_c_array__(self, requested_schema=None):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        manyhash.digest_column("md5", Raises())


class Stream(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("get_schema", "get_next", "get_last_error", "release", "private_data")]


GET = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
GET_LAST_ERROR = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)


class MalformedStream:
    """A stream by hand, whose functions do what they should, or what they are given."""

    def __init__(self, get_schema=None, get_next=None, message=None, **fields):
        self.array, self.released = Malformed(), 0
        self.message = message and ctypes.create_string_buffer(message)

        def give_schema(_, place):
            ctypes.memmove(place, ctypes.addressof(self.array.schema), ctypes.sizeof(Schema))
            return 0

        def give_array(_, place):
            ctypes.memmove(place, ctypes.addressof(self.array.array), ctypes.sizeof(Array))
            self.array.array.release = None
            return 0

        def release(stream):
            self.released += 1
            Stream.from_address(stream).release = None

        def last_error(_):
            return self.message and ctypes.addressof(self.message)

        self.functions = [
            GET(get_schema or give_schema),
            GET(get_next or give_array),
            GET_LAST_ERROR(last_error),
            RELEASE(release),
        ]
        self.stream = Stream(*(ctypes.cast(function, ctypes.c_void_p) for function in self.functions))
        for field, value in fields.items():
            setattr(self.stream, field, value)

    def without(self, *fields):
        for field in fields:
            setattr(self.stream, field, None)
        return self

    def __arrow_c_stream__(self, requested_schema=None):
        return capsule(ctypes.addressof(self.stream), b"arrow_array_stream")


def test_a_stream_by_hand():
    stream = MalformedStream()
    assert pa.chunked_array(manyhash.digest_column("md5", stream)).to_pylist() == digests("md5", ["a"])
    assert stream.released == 1
    with pytest.raises(ValueError, match="already used"):
        manyhash.digest_column("md5", stream)
    assert stream.released == 1


@pytest.mark.parametrize(
    "stream,message",
    [
        (MalformedStream().without("release"), "already used"),
        (MalformedStream().without("get_schema"), "get_schema"),
        (MalformedStream().without("get_next"), "get_next"),
        (MalformedStream(get_schema=lambda *_: 0), "no type"),
        (MalformedStream(get_schema=lambda *_: 5), "error 5"),
        (MalformedStream(get_schema=lambda *_: 5, message=b"said so"), "said so"),
        (MalformedStream(get_next=lambda *_: 5), "error 5"),
        (MalformedStream(get_next=lambda *_: 5, message=b"said \xff so"), "said . so"),
        (MalformedStream(get_next=lambda *_: 5).without("get_last_error"), "error 5"),
    ],
)
def test_hostile_streams(stream, message):
    with pytest.raises(ValueError, match=message):
        manyhash.digest_column("md5", stream)
    assert stream.stream.release is None


def test_requested_types():
    rows = ["a", None, "b"]
    chunks = pa.chunked_array([["a"], [None, "b"]])
    for hex, own, others in (
        (False, pa.binary(16), [pa.binary(16), pa.binary(), pa.large_binary(), pa.binary_view()]),
        (True, pa.string(), [pa.string(), pa.large_string(), pa.string_view()]),
    ):
        expected = [row and (row.hex() if hex else row) for row in digests("md5", rows)]
        result = manyhash.digest_column("md5", pa.array(rows), hex=hex)
        stream = manyhash.digest_column("md5", chunks, hex=hex)
        for kind in others:
            back = pa.array(result, kind)
            back.validate(full=True)
            assert (back.type, back.to_pylist()) == (kind, expected)
            back = pa.ChunkedArray._import_from_c_capsule(stream.__arrow_c_stream__(kind.__arrow_c_schema__()))
            back.validate(full=True)
            assert (back.type, back.to_pylist()) == (kind, expected)
        # To cast to what digests cannot be in is the consumer's.
        for kind in (pa.int32(), pa.binary(15), pa.list_(pa.string())):
            back = pa.Array._import_from_c_capsule(*result.__arrow_c_array__(kind.__arrow_c_schema__()))
            assert (back.type, back.to_pylist()) == (own, expected)
            back = pa.ChunkedArray._import_from_c_capsule(stream.__arrow_c_stream__(kind.__arrow_c_schema__()))
            assert (back.type, back.to_pylist()) == (own, expected)
        assert pa.DataType._import_from_c_capsule(stream.__arrow_c_schema__()) == own


def test_hostile_requests():
    array, stream = manyhash.digest_column("md5", pa.array(["a"])), manyhash.digest_column("md5", pa.chunked_array([["a"]]))
    for export in (array.__arrow_c_array__, stream.__arrow_c_stream__):
        with pytest.raises(TypeError):
            export("no capsule")
        with pytest.raises(ValueError):
            export(Malformed().__arrow_c_array__()[1])
        with pytest.raises(ValueError):
            export(hostile(schema={"release": None}).__arrow_c_array__()[0])
        for wrong in (hostile(kind=b"\xff\xfe"), hostile(schema={"format": None}), hostile(kind=b"+s", children=-1)):
            export(wrong.__arrow_c_array__()[0])


def test_a_result_is_exported_as_often_as_it_is_asked_for():
    result = manyhash.digest_column("md5", pa.chunked_array([["a"], ["b", None]]), hex=True)
    for _ in range(3):
        assert pa.chunked_array(result).to_pylist() == [row and row.hex() for row in digests("md5", ["a", "b", None])]
    # Nobody takes it.
    result.__arrow_c_stream__(), result.__arrow_c_schema__()


def test_a_capsule_that_is_used_up():
    array = pa.array(["a", "b"])

    class Twice:
        capsules = array.__arrow_c_array__()

        def __arrow_c_array__(self, requested_schema=None):
            return self.capsules

    assert pa.array(manyhash.digest_column("md5", Twice())).to_pylist() == digests("md5", ["a", "b"])
    with pytest.raises(ValueError):
        manyhash.digest_column("md5", Twice())


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
    if not hasattr(series, "__arrow_c_stream__"):
        with pytest.raises(TypeError, match="not Series; pyarrow.array makes one"):
            manyhash.digest_column("sha256", series)
        series = pa.array(series)
        assert pa.array(manyhash.digest_column("sha256", series)).to_pylist() == digests("sha256", ROWS)
        return
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
