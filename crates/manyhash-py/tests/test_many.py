"""Many messages at once, beside hashlib."""

import hashlib
import threading

import manyhash
import pytest
from hypothesis import given, strategies as st

from test_hashlib import NAMES, oracle


@given(st.sampled_from(NAMES), st.lists(st.binary(max_size=400)))
def test_digest_many(name, messages):
    expected = [oracle(name, message) for message in messages]
    assert manyhash.digest_many(name, messages) == [each.digest() for each in expected]
    assert manyhash.digest_many(name, tuple(messages)) == [each.digest() for each in expected]
    assert manyhash.digest_many(name, iter(messages)) == [each.digest() for each in expected]
    assert manyhash.hexdigest_many(name, messages) == [each.hexdigest() for each in expected]
    assert manyhash.digest_many(name, map(bytearray, messages)) == [each.digest() for each in expected]


@pytest.mark.parametrize("name", NAMES)
def test_many_and_long(name):
    messages = [bytes([i & 0xFF]) * (i % 300) for i in range(50_000)] + [b"x" * 3_000_000, b"", b"y" * 70_000]
    assert manyhash.digest_many(name, messages) == [oracle(name, message).digest() for message in messages]


def test_what_is_no_list_of_messages():
    for wrong in (b"one message", bytearray(b"one message"), memoryview(b"one message"), "text"):
        with pytest.raises(TypeError, match="not one message"):
            manyhash.digest_many("md5", wrong)
    with pytest.raises(TypeError, match="not iterable"):
        manyhash.digest_many("md5", 7)
    with pytest.raises(ValueError, match="unsupported hash type"):
        manyhash.digest_many("md6", [])

    def failing():
        yield b"a"
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        manyhash.digest_many("md5", failing())


def test_a_list_may_change_meanwhile():
    messages = [b"%d" % i for i in range(100_000)]
    expected = [hashlib.sha1(message).digest() for message in messages]
    started = threading.Event()

    def clear():
        started.wait()
        messages.clear()

    thread = threading.Thread(target=clear)
    thread.start()
    started.set()
    # It is cleared before the call, or too late for it.
    assert manyhash.digest_many("sha1", messages) in (expected, [])
    thread.join()
    assert messages == []


@given(st.sampled_from(NAMES), st.lists(st.tuples(st.binary(max_size=200), st.binary(max_size=3000))))
def test_update_many(name, pairs):
    objects = [manyhash.new(name, first) for first, _ in pairs]
    manyhash.update_many(objects, [second for _, second in pairs])
    assert [each.digest() for each in objects] == [oracle(name, a + b).digest() for a, b in pairs]


def test_update_many_refuses():
    one, other = manyhash.md5(), manyhash.md5()
    for objects, buffers, message in (
        ([one, one], [b"", b""], "twice"),
        ([one, other], [b"a"], "2 objects, but 1 buffers"),
    ):
        with pytest.raises(ValueError, match=message):
            manyhash.update_many(objects, buffers)
    with pytest.raises(TypeError):
        manyhash.update_many([hashlib.md5()], [b""])
    assert one.digest() == other.digest() == manyhash.md5().digest()
    manyhash.update_many([], [])


def test_update_many_of_several_algorithms():
    objects = [manyhash.new(name) for name in NAMES]
    manyhash.update_many(objects, [name.encode() * 100 for name in NAMES])
    assert [each.digest() for each in objects] == [oracle(name, name.encode() * 100).digest() for name in NAMES]


def test_update_many_in_any_order_at_once():
    objects = [manyhash.sha256() for _ in range(20)]
    data = b"z" * 4096

    def work(order):
        for _ in range(100):
            manyhash.update_many(order, [data] * len(order))

    threads = [threading.Thread(target=work, args=(order,)) for order in (objects, objects[::-1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {each.digest() for each in objects} == {hashlib.sha256(data * 200).digest()}
