"""Files, beside hashlib."""

import errno
import hashlib
import os
import signal
import threading
import time

import manyhash
import pytest

from test_hashlib import NAMES


@pytest.fixture
def files(tmp_path):
    """Files of many sizes, by name."""
    contents = {}
    for i, size in enumerate([0, 1, 63, 64, 1000, 32 << 10, (32 << 10) + 1, 300_000] * 10):
        path = tmp_path / f"file {i}"
        path.write_bytes(bytes([i]) * size)
        contents[path] = bytes([i]) * size
    return contents


@pytest.mark.parametrize("name", NAMES)
def test_files(name, files):
    expected = [manyhash.new(name, data).digest() for data in files.values()]
    assert manyhash.digest_files(name, files) == expected
    assert manyhash.digest_files(name, (str(path) for path in files), threads=1) == expected
    assert manyhash.digest_files(name, [os.fsencode(path) for path in files], threads=3) == expected


def test_several_names(files):
    results = manyhash.digest_files(["md5", "SHA-256"], files)
    assert results == [
        {"md5": hashlib.md5(data).digest(), "sha256": hashlib.sha256(data).digest()} for data in files.values()
    ]


def test_errors_are_results(tmp_path):
    good = tmp_path / "good"
    good.write_bytes(b"abc")
    missing = tmp_path / "missing"
    for names in ("sha1", ["sha1", "md5"]):
        first, second, third, fourth = manyhash.digest_files(names, [missing, good, tmp_path, str(missing)])
        assert isinstance(first, FileNotFoundError)
        assert first.errno == errno.ENOENT
        assert first.filename == str(missing)
        assert str(missing) in str(first)
        assert not isinstance(second, OSError)
        assert isinstance(third, IsADirectoryError)
        assert fourth.filename == str(missing)


def test_names_that_are_no_text(tmp_path):
    name = os.fsencode(tmp_path) + b"/\xff\xfe\n"
    with open(name, "wb") as file:
        file.write(b"abc")
    assert manyhash.digest_files("md5", [name, os.fsdecode(name)]) == [hashlib.md5(b"abc").digest()] * 2
    (error,) = manyhash.digest_files("md5", [b"/no/\xff"])
    assert os.fsencode(error.filename) == b"/no/\xff"
    (error,) = manyhash.digest_files("md5", ["a\0b"])
    assert isinstance(error, OSError)
    assert error.filename == "a\0b"
    assert "file name contained an unexpected NUL byte" in str(error)


def test_arguments():
    assert manyhash.digest_files("md5", []) == []
    for wrong in (0, -1):
        with pytest.raises((ValueError, OverflowError)):
            manyhash.digest_files("md5", [], threads=wrong)
    with pytest.raises(ValueError, match="unsupported hash type md6"):
        manyhash.digest_files("md6", [])
    with pytest.raises(ValueError, match="no hash type given"):
        manyhash.digest_files([], [])
    with pytest.raises(TypeError):
        manyhash.digest_files("md5", [7])
    for path in ("file", b"file"):
        with pytest.raises(TypeError, match="not one path"):
            manyhash.digest_files("md5", path)
    for wrong in (7, [7], b"md5", None):
        with pytest.raises(TypeError, match="expected the name of a hash type, or a list of names"):
            manyhash.digest_files(wrong, [])


def test_progress(files):
    seen = []
    manyhash.digest_files("md5", files, progress=lambda *args: seen.append(args))
    assert seen[-1] == (sum(map(len, files.values())), len(files))
    assert seen == sorted(seen)
    seen.clear()
    manyhash.digest_files(["md5", "sha1"], files, progress=lambda *args: seen.append(args))
    assert seen[-1] == (sum(map(len, files.values())), len(files))


def test_what_progress_raises_is_raised(files):
    def stop(done, files):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        manyhash.digest_files("md5", files, progress=stop)


def test_waiting_for_a_file_lets_others_run_and_can_be_interrupted(tmp_path):
    # A pipe that nobody has written to yet: the call cannot return before another thread has run Python.
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write():
        time.sleep(0.1)
        with open(pipe, "wb") as file:
            file.write(b"abc")

    thread = threading.Thread(target=write)
    thread.start()
    assert manyhash.digest_files("md5", [pipe]) == [hashlib.md5(b"abc").digest()]
    thread.join()

    # And one that nobody will write to. Python leaves SIGINT alone where it was started with SIGINT ignored.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Timer(0.2, signal.raise_signal, [signal.SIGINT]).start()
        with pytest.raises(KeyboardInterrupt):
            manyhash.digest_files("md5", [pipe])
    finally:
        signal.signal(signal.SIGINT, handler)
    # The thread that waits for it is let go.
    with open(pipe, "wb"):
        pass
