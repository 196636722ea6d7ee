"""HMACs of many messages under one key, beside the standard library's."""

import hmac

import manyhash
import pytest
from hypothesis import given, strategies as st

from test_hashlib import NAMES

#: The standard library's names for the same.
DIGESTS = {name: name for name in NAMES} | {"sha512_256": "sha512-256"}
BLOCKS = {name: manyhash.new(name).block_size for name in NAMES}


def oracle(key, name, messages):
    return [hmac.digest(key, message, DIGESTS[name]) for message in messages]


@pytest.mark.parametrize("name", NAMES)
def test_keys(name):
    block = BLOCKS[name]
    messages = [b"", b"a", b"b" * 1000]
    for length in (0, 1, block - 1, block, block + 1, 2 * block, 1000):
        key = bytes(range(256)) * 4
        key = key[:length]
        assert manyhash.hmac_many(key, name, messages) == oracle(key, name, messages), length


@pytest.mark.parametrize("name", NAMES)
def test_lengths(name):
    messages = [bytes([i & 0xFF]) * i for i in range(300)] * 40 + [b"x" * 3_000_000, b""]
    assert manyhash.hmac_many(b"key", name, messages) == oracle(b"key", name, messages)


@given(st.sampled_from(NAMES), st.binary(max_size=300), st.lists(st.binary(max_size=400)))
def test_anything(name, key, messages):
    expected = oracle(key, name, messages)
    assert manyhash.hmac_many(key, name, messages) == expected
    assert manyhash.hmac_many(bytearray(key), name, map(memoryview, messages)) == expected


def test_known_answer():
    # RFC 4231, 4.3.
    tag = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    assert manyhash.hmac_many(b"Jefe", "SHA-256", [b"what do ya want for nothing?"])[0].hex() == tag


def test_what_is_refused():
    with pytest.raises(ValueError, match="unsupported hash type md6"):
        manyhash.hmac_many(b"key", "md6", [])
    for key, message in (("text", "Strings must be encoded"), (7, "not int"), (None, "not NoneType")):
        with pytest.raises(TypeError, match=message):
            manyhash.hmac_many(key, "md5", [])
    for messages, message in (
        (b"one message", "not one message"),
        (bytearray(b"one message"), "not one message"),
        (["text"], "Strings must be encoded"),
        ([b"a", None], "not NoneType"),
        (7, "not iterable"),
    ):
        with pytest.raises(TypeError, match=message):
            manyhash.hmac_many(b"key", "md5", messages)
