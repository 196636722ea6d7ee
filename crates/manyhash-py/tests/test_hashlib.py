"""Objects like hashlib's, beside hashlib."""

import array
import copy
import hashlib
import io
import mmap
import sys
import threading
import time

import manyhash
import numpy
import pytest
from hypothesis import given, strategies as st

# What hashlib has everywhere, and what it has in places or not at all, with the digest of b"abc".
NAMES = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha512_256", *(f"sha3_{n}" for n in (224, 256, 384, 512))]
OTHERS = {
    "keccak256": "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45",
    "sm3": "66c7f0f462eeedd9d1f2d46bdc10e4e24167c4875cf2f7a2297da02b8f4ba8e0",
    "ripemd160": "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc",
}
names = pytest.mark.parametrize("name", NAMES)


def oracle(name, data=b""):
    return hashlib.new(name, data, usedforsecurity=False)


@names
def test_constructors(name):
    ours, theirs = getattr(manyhash, name)(b"abc"), oracle(name, b"abc")
    for attribute in ("name", "digest_size", "block_size"):
        assert getattr(ours, attribute) == getattr(theirs, attribute)
    assert ours.digest() == theirs.digest()
    assert ours.hexdigest() == theirs.hexdigest()
    assert getattr(manyhash, name)().digest() == oracle(name).digest()
    assert getattr(manyhash, name)(string=b"abc").digest() == ours.digest()
    assert getattr(manyhash, name)(data=b"abc", usedforsecurity=False).digest() == ours.digest()
    assert manyhash.new(name, b"abc", usedforsecurity=False).digest() == ours.digest()
    assert manyhash.new(name.upper(), data=b"abc").name == name
    assert repr(ours).startswith(f"<{name} manyhash.HASH object @ 0x")
    with pytest.raises(TypeError):
        getattr(manyhash, name)(b"abc", False)
    with pytest.raises(TypeError):
        getattr(manyhash, name)(b"a", string=b"b")


@names
def test_none_is_no_empty_message(name):
    for call in (getattr(manyhash, name), lambda *data, **named: manyhash.new(name, *data, **named)):
        for wrong in (lambda: call(None), lambda: call(data=None), lambda: call(string=None)):
            with pytest.raises(TypeError, match="object supporting the buffer API required"):
                wrong()


def test_usedforsecurity_is_any_truth_value():
    class Neither:
        def __bool__(self):
            raise ZeroDivisionError

    for value in (1, 0, None, "", [1]):
        assert manyhash.md5(b"abc", usedforsecurity=value).digest() == hashlib.md5(b"abc").digest()
        assert manyhash.new("md5", b"abc", usedforsecurity=value).digest() == hashlib.md5(b"abc").digest()
    with pytest.raises(ZeroDivisionError):
        manyhash.md5(b"abc", usedforsecurity=Neither())


def test_the_type_is_immutable():
    for change in (lambda: setattr(manyhash.HASH, "x", 1), lambda: delattr(manyhash.HASH, "update")):
        with pytest.raises(TypeError, match="immutable type"):
            change()
    with pytest.raises(AttributeError):
        manyhash.md5().x = 1
    with pytest.raises(TypeError):
        type("Own", (manyhash.HASH,), {})
    assert type(manyhash.md5()) is manyhash.HASH
    assert (manyhash.HASH.__module__, manyhash.HASH.__qualname__) == ("manyhash", "HASH")


def test_objects_and_the_type_are_let_go_of():
    count = sys.getrefcount(manyhash.HASH)
    hashers = [manyhash.sha256(b"x").copy() for _ in range(1000)]
    assert sys.getrefcount(manyhash.HASH) >= count
    del hashers
    assert abs(sys.getrefcount(manyhash.HASH) - count) < 10
    data = b"own %d" % time.time_ns()
    count = sys.getrefcount(data)
    hasher = manyhash.md5(data)
    hasher.update(data)
    assert sys.getrefcount(data) == count


def test_names():
    assert manyhash.algorithms_available == manyhash.algorithms_guaranteed == {*NAMES, *OTHERS}
    for name in manyhash.algorithms_available:
        assert getattr(manyhash, name)(b"abc").name == manyhash.new(name).name == name
    for name, digest in OTHERS.items():
        assert getattr(manyhash, name)(b"abc").hexdigest() == digest
    assert manyhash.new("SHA-512/256").name == "sha512_256"
    with pytest.raises(ValueError, match="unsupported hash type md6"):
        manyhash.new("md6")
    with pytest.raises(TypeError):
        manyhash.new(7)
    with pytest.raises(TypeError):
        manyhash.HASH()


@given(st.sampled_from(NAMES), st.lists(st.binary(max_size=5000), max_size=6))
def test_updates_and_copies(name, pieces):
    ours, theirs = manyhash.new(name), oracle(name)
    for piece in pieces:
        before = ours.copy()
        ours.update(piece)
        assert before.digest() == theirs.digest()
        theirs.update(piece)
        assert ours.digest() == theirs.digest()
        assert ours.hexdigest() == theirs.hexdigest()


@names
@pytest.mark.parametrize("size", [0, 1, 55, 56, 63, 64, 65, 111, 112, 127, 128, 129, 2047, 2048, 1 << 20])
def test_lengths(name, size):
    data = bytes(i * 7 & 0xFF for i in range(size))
    ours = manyhash.new(name)
    ours.update(data)
    assert ours.digest() == oracle(name, data).digest()


def buffers():
    data = bytes(range(256)) * 16
    mapped = mmap.mmap(-1, len(data))
    mapped[:] = data
    return {
        "bytes": data,
        "subclass": type("Own", (bytes,), {})(data),
        "bytearray": bytearray(data),
        "memoryview": memoryview(data)[1:-1],
        "cast": memoryview(data).cast("I"),
        "array": array.array("d", [1.5, 2.5]),
        "mmap": mapped,
        "numpy": numpy.arange(1000, dtype="int64"),
        "matrix": numpy.arange(100.0).reshape(10, 10),
        "dates": numpy.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]"),
        "empty": numpy.empty((0, 3)),
        "nothing": b"",
    }


@pytest.mark.parametrize("kind", buffers())
def test_buffers(kind):
    data = buffers()[kind]
    plain = data.tobytes() if hasattr(data, "tobytes") else bytes(data)
    expected = hashlib.sha256(plain).digest()
    assert manyhash.sha256(data).digest() == expected
    assert manyhash.digest_many("sha256", [data, b"x", data]) == [expected, hashlib.sha256(b"x").digest(), expected]


def test_what_is_no_buffer():
    for hash_it in (manyhash.sha256, manyhash.sha256().update, lambda data: manyhash.digest_many("md5", [b"", data])):
        with pytest.raises(TypeError, match="Strings must be encoded before hashing"):
            hash_it("text")
        with pytest.raises(TypeError, match="object supporting the buffer API required"):
            hash_it(7)
        for strided in (memoryview(b"abcdef")[::2], numpy.arange(10)[::2], numpy.arange(9).reshape(3, 3).T):
            with pytest.raises(BufferError):
                hash_it(strided)


def test_buffers_are_given_back():
    data = bytearray(5000)
    manyhash.sha256(data)
    manyhash.digest_many("sha256", [data, data])
    with pytest.raises(TypeError):
        manyhash.digest_many("sha256", [data, 7])
    view = memoryview(data)[::2]
    with pytest.raises(BufferError):
        manyhash.sha256(view)
    view.release()
    data.append(1)  # a BufferError if it were still exported


def test_objects_are_not_copied_by_the_back_door():
    with pytest.raises(TypeError):
        copy.copy(manyhash.md5())


def test_one_object_in_many_threads():
    shared = manyhash.sha256()
    pieces = [bytes([7]) * size for size in (1, 100, 3000, 100_000)]

    def work():
        for piece in pieces * 20:
            shared.update(piece)
            shared.digest()
            shared.copy()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert shared.digest() == hashlib.sha256(b"\7" * (sum(map(len, pieces)) * 20 * 8)).digest()


@names
def test_file_digest(name, tmp_path):
    data = bytes(range(256)) * 5000
    path = tmp_path / "file"
    path.write_bytes(data)
    expected = oracle(name, data).digest()
    with open(path, "rb") as file:
        assert manyhash.file_digest(file, name).digest() == expected
    with open(path, "rb", buffering=0) as file:
        assert manyhash.file_digest(file, getattr(manyhash, name)).digest() == expected
    assert manyhash.file_digest(io.BytesIO(data), name).digest() == expected
    with open(path, "rb") as file, pytest.raises(ValueError, match="unsupported hash type"):
        manyhash.file_digest(file, "md6")
    for wrong in (io.StringIO("text"), open(path, "r"), open(tmp_path / "new", "wb")):
        with wrong, pytest.raises(ValueError, match="not a file-like object"):
            manyhash.file_digest(wrong, name)
