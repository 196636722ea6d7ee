"""The accessor of pandas' series."""

import hashlib
import hmac

import manyhash.pandas
import pandas
import pyarrow as pa
import pytest

from test_hashlib import NAMES, oracle


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["str", "object", "string[python]", pandas.ArrowDtype(pa.string())], ids=str)
def test_text(name, dtype):
    series = pandas.Series(["a", None, "ä" * 100], index=[3, 1, 2], name="x", dtype=dtype)
    result = getattr(series.manyhash, name)()
    assert list(result.index) == [3, 1, 2]
    assert result.name == "x"
    assert result.isna().tolist() == [False, True, False]
    assert result[3] == oracle(name, b"a").hexdigest()
    assert getattr(series.manyhash, name)(hex=False)[2] == oracle(name, ("ä" * 100).encode()).digest()
    assert getattr(series[1:].manyhash, name)()[2] == oracle(name, ("ä" * 100).encode()).hexdigest()


def test_bytes_and_nothing():
    assert pandas.Series([b"a", b""]).manyhash.digest("SHA-1").tolist() == [
        hashlib.sha1(b"a").hexdigest(),
        hashlib.sha1().hexdigest(),
    ]
    assert pandas.Series([None, None]).manyhash.md5().isna().all()
    assert len(pandas.Series([], dtype="str").manyhash.md5()) == 0
    with pytest.raises(TypeError, match="cannot hash a column of type Int64"):
        pandas.Series([1, 2]).manyhash.md5()


def test_under_a_key():
    result = pandas.Series(["a", None], index=[5, 6], name="x").manyhash.hmac(b"key", "sha256")
    assert (list(result.index), result.name) == ([5, 6], "x")
    assert result[5] == hmac.digest(b"key", b"a", "sha256").hex()
    assert result.isna().tolist() == [False, True]
    assert pandas.Series(["a"]).manyhash.hmac(b"key", "md5", hex=False)[0] == hmac.digest(b"key", b"a", "md5")


def test_two_frames_joined():
    series = pandas.concat([pandas.Series(["a"] * 5, dtype="str"), pandas.Series(["b"] * 5, dtype="str")])
    assert series.manyhash.md5().tolist() == [hashlib.md5(each).hexdigest() for each in [b"a"] * 5 + [b"b"] * 5]
