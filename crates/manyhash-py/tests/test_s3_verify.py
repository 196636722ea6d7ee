"""Directories and buckets in memory, compared."""

import contextlib
import dataclasses
import gc
import os
import random
import signal
import subprocess
import sys
import threading
import time
import weakref

import pytest
from manyhash.s3 import Outcome, verify

from s3_memory import Body, ClientError, Memory, Object, refuse

DATA = random.Random(1).randbytes(100_000)
OTHER = DATA[:50_000] + b"!" + DATA[50_001:]


def tree(path, files):
    for name, data in files.items():
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    return path


def bucket(objects, **settings):
    objects = {key: object if isinstance(object, Object) else Object(object) for key, object in objects.items()}
    return Memory({("bucket", key): object for key, object in objects.items()}, **settings)


def one(tmp_path, object, data=DATA, **arguments):
    """What comes of one file and one object."""
    memory = object if isinstance(object, Memory) else bucket({"x": object})
    (outcome,) = verify(tree(tmp_path / "tree", {"x": data}), "s3://bucket", client=memory, **arguments)
    assert outcome.name == "x"
    return outcome


def test_all_states(tmp_path):
    files = {"a": b"a", "b/c": DATA, "b.txt": b"b", "empty": b"", "gone": b"1", "other": DATA, "longer": b"12"}
    objects = {**files, "new": b"2", "other": OTHER, "longer": b"123", "kms": Object(DATA, encryption="aws:kms")}
    del objects["gone"]
    root = tree(tmp_path, {**files, "kms": DATA})
    memory = bucket({f"prefix/{key}": object for key, object in objects.items()} | {"prefixed": b"", "prefix/d/": b""})
    found = list(verify(root, "s3://bucket/prefix", client=memory))
    reason = found[4].reason
    assert found == [
        Outcome("a", "same", 1, "md5"),
        Outcome("b.txt", "same", 1, "md5"),
        Outcome("b/c", "same", 100_000, "md5"),
        Outcome("empty", "same", 0, "empty"),
        Outcome("gone", "missing", 1),
        Outcome("kms", "unverified", 100_000, reason=found[5].reason),
        Outcome("longer", "differs", 2, "size 2 and 3"),
        Outcome("new", "extra", 1),
        Outcome("other", "differs", 100_000, "md5"),
    ]
    assert reason is None and "no MD5" in found[5].reason
    assert memory.asked("ListObjectsV2") == [{"Bucket": "bucket", "Prefix": "prefix/"}]
    # Nothing more is asked where the list decides; a difference has to be sure.
    assert {arguments["Key"] for arguments in memory.asked("HeadObject")} == {"prefix/kms", "prefix/other"}
    assert not memory.asked("GetObject")
    # No thread of the library's own calls the client.
    assert all(name.startswith("manyhash-s3") for name in memory.threads)


@pytest.mark.parametrize("encoded", [str, os.fsencode, lambda path: path])
def test_two_directories(tmp_path, encoded):
    a, b = tree(tmp_path / "a", {"x": DATA, "y": b"y"}), tree(tmp_path / "b", {"x": OTHER, "y": b"y"})
    assert list(verify(encoded(a), encoded(b))) == [
        Outcome("x", "differs", 100_000, "sha256"),
        Outcome("y", "same", 1, "sha256"),
    ]


def test_two_buckets():
    objects = {("one", "p/x"): Object(DATA), ("other", "x"): Object(DATA), ("other", "ü/\n"): Object(b"")}
    found = list(verify("s3://one/p/", "S3://other", client=Memory(objects)))
    assert found == [Outcome("x", "same", 100_000, "md5"), Outcome("ü/\n", "extra", 0)]


def test_objects_in_parts(tmp_path):
    for part_size in (30_000, 50_000, 100_000):
        outcome = one(tmp_path, Object(DATA, part_size))
        parts = -(-len(DATA) // part_size)
        assert outcome.state == "same"
        assert outcome.check.startswith(f"md5 of {parts} part")
        assert one(tmp_path, Object(OTHER, part_size)).state == "differs"
    composite = Object(DATA, 30_000, ("SHA256", "COMPOSITE"))
    assert one(tmp_path, composite).check == "sha256 of 4 parts"
    assert one(tmp_path, dataclasses.replace(composite, data=OTHER)).state == "differs"


def test_encrypted_objects_with_a_checksum(tmp_path):
    for kind in (None, 30_000):
        encrypted = Object(DATA, kind, ("CRC32", "FULL_OBJECT"), "aws:kms")
        assert one(tmp_path, encrypted).check == "crc32"
        assert one(tmp_path, dataclasses.replace(encrypted, data=OTHER)).state == "differs"


def test_attributes_in_pages(tmp_path):
    # One that does not know part numbers, so that the attributes have to tell of the parts.
    memory = bucket({"x": Object(DATA, 17_000, ("SHA256", "COMPOSITE"), "aws:kms")})
    memory.changes["HeadObject"] = lambda arguments, answer: answer() if "PartNumber" not in arguments else refuse(501)
    assert one(tmp_path, memory).check.startswith("sha256 of 6 parts")
    assert [arguments.get("PartNumberMarker") for arguments in memory.asked("GetObjectAttributes")] == [None, 2, 4]


@pytest.mark.parametrize("size", [1, 1 << 20, (1 << 20) + 1, 5_000_000])
def test_downloads(tmp_path, size):
    data = random.Random(size).randbytes(size)
    memory = bucket({"x": Object(data, encryption="aws:kms")})
    assert one(tmp_path, memory, data).state == "unverified"
    assert one(tmp_path, memory, data, download=True) == Outcome("x", "same", size, "sha256")
    (request,) = memory.asked("GetObject")
    assert request == {
        "Bucket": "bucket",
        "Key": "x",
        "Range": f"bytes=0-{size - 1}",
        "IfMatch": memory.objects["bucket", "x"].etag,
    }
    # To the very end, so that the connection is used again.
    assert all(body.read_at_end for body in memory.bodies)
    memory.objects["bucket", "x"].data = data[:-1] + bytes([data[-1] ^ 1])
    assert one(tmp_path, memory, data, download=True).state == "differs"


def broken(after, length=None):
    """A body that breaks off."""

    def change(arguments, answer):
        answer = answer()
        data = answer["Body"].data
        answer["Body"] = Body(data if length is None else data[:length], breaks=after)
        return answer

    return change


def test_downloads_go_on_where_they_broke_off(tmp_path):
    memory = bucket({"x": Object(DATA, encryption="aws:kms")})
    attempts = []

    def change(arguments, answer):
        attempts.append(arguments["Range"])
        return broken(40_000)(arguments, answer) if len(attempts) < 3 else answer()

    memory.changes["GetObject"] = change
    assert one(tmp_path, memory, download=True).state == "same"
    assert attempts == ["bytes=0-99999", "bytes=40000-99999", "bytes=80000-99999"]
    # Also without an exception.
    memory.changes["GetObject"] = broken(None, 60_000)
    assert one(tmp_path, memory, download=True).state == "same"
    # What never gets better is said.
    memory.changes["GetObject"] = broken(0)
    outcome = one(tmp_path, memory, download=True)
    assert (outcome.state, outcome.reason) == ("unverified", "s3://bucket/x: connection reset")


def test_pages(tmp_path):
    files = {f"{i:04}": b"%d" % i for i in range(700)}
    memory = bucket(files, page_size=99)
    found = list(verify(tree(tmp_path, files), "s3://bucket", client=memory))
    assert [outcome.name for outcome in found] == sorted(files)
    assert {outcome.state for outcome in found} == {"same"}
    lists = memory.asked("ListObjectsV2")
    assert len(lists) == 8
    assert "ContinuationToken" not in lists[0] and lists[1]["ContinuationToken"] == "0098"


def test_refusals_of_lists_are_raised(tmp_path):
    with pytest.raises(ClientError, match="NoSuchBucket") as error:
        list(verify(tmp_path, "s3://elsewhere", client=bucket({"x": b""})))
    assert error.value.response["Error"]["Code"] == "NoSuchBucket"


@pytest.mark.parametrize(
    ("status", "code", "state"),
    [(403, "403", "unverified"), (500, "500", "unverified"), (400, "400", "unverified"), (404, "404", "missing")],
)
def test_refusals_of_objects_are_reasons(tmp_path, status, code, state):
    memory = bucket({"x": OTHER, "y": b"y"})
    memory.changes["HeadObject"] = lambda arguments, answer: refuse(status, code)
    outcome, after = verify(tree(tmp_path, {"x": DATA, "y": b"y"}), "s3://bucket", client=memory)
    assert outcome.state == state
    if state == "unverified":
        assert outcome.reason == f"s3://bucket/x: An error occurred ({code}) when calling the Operation operation: refused"
    assert after.state == "same"


class Elsewhere(Exception):
    """What is no answer of S3's."""


class Halfway(Exception):
    response = {"Error": "none"}


@pytest.mark.parametrize("raised", [Elsewhere, Halfway, ConnectionError, SystemExit, KeyboardInterrupt])
@pytest.mark.parametrize("operation", ["ListObjectsV2", "HeadObject", "GetObject"])
def test_other_exceptions_are_raised_as_they_are(tmp_path, raised, operation):
    exception = raised("the client's own words")
    memory = bucket({"a": b"a", "x": Object(OTHER, encryption="aws:kms"), "y": b"y"})

    def change(arguments, answer):
        raise exception

    memory.changes[operation] = change
    root = tree(tmp_path, {"a": b"a", "x": DATA, "y": b"y"})
    found, seen = verify(root, "s3://bucket", client=memory, download=True), []
    with pytest.raises(raised) as error:
        for outcome in found:
            seen.append(outcome.name)
    assert error.value is exception
    # What comes before it in the order of names is not lost, and there is nothing after it.
    assert seen == ([] if operation == "ListObjectsV2" else ["a"])
    assert list(found) == []


def test_arguments(tmp_path):
    with pytest.raises(TypeError, match=r"a bucket needs a client; pass client=boto3.client\('s3'\)"):
        verify(tmp_path, "s3://bucket")
    with pytest.raises(TypeError, match=r"client: a int has no method list_objects_v2; pass boto3.client\('s3'\)"):
        verify(tmp_path, "s3://bucket", client=7)
    with pytest.raises(ValueError, match="the name of a bucket must follow s3://"):
        verify("s3:///x", tmp_path, client=Memory({}))
    with pytest.raises(FileNotFoundError) as error:
        verify(tmp_path / "missing", tmp_path)
    assert error.value.filename == str(tmp_path / "missing")
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError) as error:
        verify(tmp_path, tmp_path / "file")
    assert error.value.filename == str(tmp_path / "file")
    for wrong in (7, None, ["s3://bucket"]):
        with pytest.raises(TypeError):
            verify(wrong, tmp_path)


def test_names_that_are_no_text(tmp_path):
    with open(os.fsencode(tmp_path) + b"/\xff", "wb"):
        pass
    (outcome,) = verify(tmp_path, "s3://bucket/nothing", client=bucket({"x": b""}))
    assert (outcome.state, os.fsencode(outcome.name)) == ("missing", b"\xff")


def test_as_many_requests_at_a_time_as_connections(tmp_path):
    memory = bucket({f"{i:03}": OTHER for i in range(60)})
    busy, most, lock = 0, 0, threading.Lock()

    def change(arguments, answer):
        nonlocal busy, most
        with lock:
            busy += 1
            most = max(most, busy)
        time.sleep(0.01)
        with lock:
            busy -= 1
        return answer()

    memory.changes["HeadObject"] = change
    root = tree(tmp_path, {f"{i:03}": DATA for i in range(60)})

    class Meta:
        class config:
            max_pool_connections = 3

    memory.meta = Meta
    assert {outcome.state for outcome in verify(root, "s3://bucket", client=memory)} == {"differs"}
    assert 1 < most <= 3


@contextlib.contextmanager
def blocked(memory, operation="HeadObject"):
    """Has an operation wait until the end of the block."""
    entered, leave = threading.Event(), threading.Event()

    def change(arguments, answer):
        entered.set()
        assert leave.wait(60)
        return answer()

    memory.changes[operation] = change
    try:
        yield entered
    finally:
        leave.set()


def test_interrupts(tmp_path):
    memory = bucket({"x": OTHER})
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with blocked(memory):
            found = verify(tree(tmp_path, {"x": DATA}), "s3://bucket", client=memory)
            threading.Timer(0.2, signal.raise_signal, [signal.SIGINT]).start()
            with pytest.raises(KeyboardInterrupt):
                next(found)
            assert list(found) == []
    finally:
        signal.signal(signal.SIGINT, handler)


def test_one_waits_at_a_time(tmp_path):
    memory = bucket({"x": OTHER})
    with blocked(memory) as entered:
        found = verify(tree(tmp_path, {"x": DATA}), "s3://bucket", client=memory)
        seen = []
        thread = threading.Thread(target=lambda: seen.extend(found))
        thread.start()
        assert entered.wait(60)
        with pytest.raises(RuntimeError, match="already waited for"):
            next(found)
    thread.join()
    assert [outcome.state for outcome in seen] == ["differs"]


def test_what_is_dropped_asks_no_more(tmp_path):
    memory = bucket({f"{i:03}": OTHER for i in range(500)})
    memory.changes["HeadObject"] = lambda arguments, answer: time.sleep(0.01) or answer()
    found = verify(tree(tmp_path, {f"{i:03}": DATA for i in range(500)}), "s3://bucket", client=memory)
    assert next(found).state == "differs"
    del found
    asked = len(memory.calls) + 20
    client = weakref.ref(memory)
    deadline = time.monotonic() + 60
    while any(thread.name.startswith("manyhash-s3") for thread in threading.enumerate()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert len(memory.calls) <= asked
    # And nothing holds the client.
    del memory
    gc.collect()
    assert client() is None


END = """
import sys, threading, time
sys.path.insert(0, sys.argv[1])
from s3_memory import Memory, Object
from manyhash.s3 import verify

memory = Memory({(bucket, f"{i:03}"): Object(byte * i) for bucket, byte in (("a", b"1"), ("b", b"2")) for i in range(100)})
memory.changes["HeadObject"] = lambda arguments, answer: time.sleep(0.02) or answer()
found = verify("s3://a", "s3://b", client=memory)
print(next(found).state, next(found).state)
if sys.argv[2] == "fork":
    import os
    child = os.fork()
    if child == 0:
        try:
            next(found)
        except RuntimeError as error:
            print(error)
        del found
        sys.stdout.flush()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    print(len(list(found)))
# The interpreter ends in the middle, with requests on their way.
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("way", ["end", "fork"])
def test_an_end_in_the_middle(way):
    command = [sys.executable, "-W", "ignore", "-c", END, os.path.dirname(__file__), way]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (result.returncode, result.stderr) == (0, ""), result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == "same differs"
    if way == "fork":
        assert lines[1:] == ["a comparison goes on only in the process that began it; begin another", "98"]
