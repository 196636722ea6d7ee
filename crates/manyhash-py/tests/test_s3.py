"""What S3 has for files, beside hashlib and known answers."""

import base64
import errno
import hashlib
import inspect
import os
import pickle
import random
import signal
import threading
import time
import zlib

import manyhash.s3
import pytest
from manyhash.s3 import checksum, checksum_files, etag, etag_files, guess

MIB = 1 << 20


def parts(data, part_size):
    return [data[i : i + part_size] for i in range(0, max(len(data), 1), part_size)]


def multipart(data, part_size):
    md5s = [hashlib.md5(part).digest() for part in parts(data, part_size)]
    return f"{hashlib.md5(b''.join(md5s)).hexdigest()}-{len(md5s)}"


def base64_of(digest):
    return base64.b64encode(digest).decode()


@pytest.fixture
def write(tmp_path):
    def write(data, name="file"):
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return write


def test_etags(write):
    data = random.Random(1).randbytes(12 * MIB + 5)
    path = write(data)
    assert etag(path, 5 * MIB) == multipart(data, 5 * MIB)
    assert etag(str(path), part_size=5 * MIB, threads=1) == multipart(data, 5 * MIB)
    assert etag(os.fsencode(path)) == multipart(data, 8 * MIB)
    # A file of one part is in parts, and a shorter one is not.
    assert etag(path, len(data)) == multipart(data, len(data)) == f"{hashlib.md5(hashlib.md5(data).digest()).hexdigest()}-1"
    assert etag(path, len(data) + 1) == hashlib.md5(data).hexdigest()
    assert etag(write(b"")) == "d41d8cd98f00b204e9800998ecf8427e"
    assert etag(write(bytes(8 * MIB - 1))) == hashlib.md5(bytes(8 * MIB - 1)).hexdigest()


def test_many_etags(write, tmp_path):
    contents = [random.Random(i).randbytes(i * 37_000 % 300_001) for i in range(100)]
    paths = [write(data, f"file {i}") for i, data in enumerate(contents)]
    expected = [hashlib.md5(data).hexdigest() if len(data) < 65536 else multipart(data, 65536) for data in contents]
    assert etag_files(paths, 65536) == expected
    assert etag_files((str(path) for path in paths), part_size=65536, threads=1) == expected
    missing = tmp_path / "missing"
    first, error, directory = etag_files([paths[1], missing, tmp_path])
    assert first == hashlib.md5(contents[1]).hexdigest()
    assert isinstance(error, FileNotFoundError) and error.errno == errno.ENOENT and error.filename == str(missing)
    assert isinstance(directory, OSError) and directory.filename == str(tmp_path)
    assert etag_files([]) == []


def test_known_checksums(write):
    path = write(b"123456789")
    # The check values of the catalogue of CRCs.
    assert checksum(path, ["CRC32", "crc32c", "Crc64NVME"]) == {
        "CRC32": base64_of(0xCBF43926.to_bytes(4)),
        "CRC32C": base64_of(0xE3069283.to_bytes(4)),
        "CRC64NVME": base64_of(0xAE8B14860A799888.to_bytes(8)),
    }
    # What AWS computes, and S3 took.
    path = write(b"hello world")
    assert checksum(path, ["XXHASH64", "XXHASH3", "XXHASH128"]) == {
        "XXHASH64": "RatnNLIeaWg=",
        "XXHASH3": "1Eex6kDmmIs=",
        "XXHASH128": "340J6T+HSQCpm4d1zBW2xw==",
    }
    for name in ("MD5", "SHA1", "SHA256", "SHA512"):
        assert checksum(path, name) == base64_of(hashlib.new(name, b"hello world").digest())
    # An object of zeros that was uploaded by AWS's console.
    path = write(bytes(34_567_890))
    assert checksum(path, "SHA256", 17_179_870, composite=True) == "eS1aSUoSnbLv53dDOSSjmhilAUkzfJsEiZKg3+lCjBc=-3"


def test_composites(write):
    data = random.Random(2).randbytes(2 * MIB + 1)
    path = write(data)

    def composite(function, part_size):
        digests = [function(part) for part in parts(data, part_size)]
        return f"{base64_of(function(b''.join(digests)))}-{len(digests)}"

    functions = {
        "CRC32": lambda part: zlib.crc32(part).to_bytes(4),
        "SHA1": lambda part: hashlib.sha1(part).digest(),
        "SHA256": lambda part: hashlib.sha256(part).digest(),
    }
    for part_size in (MIB, 300_000, 2 * MIB + 1, 4 * MIB):
        expected = {name: composite(function, part_size) for name, function in functions.items()}
        assert checksum(path, list(functions), part_size, True) == expected
    assert checksum(path, "SHA256", composite=True) == composite(functions["SHA256"], 8 * MIB)
    # CRCs of the full object do not depend on parts.
    assert checksum(path, "CRC32") == base64_of(functions["CRC32"](data))


def test_many_checksums(write, tmp_path):
    paths = [write(b"%d" % i, f"{i}") for i in range(50)]
    expected = [base64_of(hashlib.sha256(b"%d" % i).digest()) for i in range(50)]
    assert checksum_files(paths, "SHA256") == expected
    assert checksum_files(paths, ["SHA256"]) == [{"SHA256": each} for each in expected]
    one = [f"{base64_of(hashlib.sha1(hashlib.sha1(b'%d' % i).digest()).digest())}-1" for i in range(50)]
    assert checksum_files(paths, "SHA1", 5, True) == one
    (error,) = checksum_files([tmp_path / "missing"], ["SHA1", "MD5"])
    assert isinstance(error, FileNotFoundError)


def test_guesses(write):
    data = random.Random(3).randbytes(21 * MIB)
    path = write(data)
    for part_size in (5 * MIB, 8 * MIB, 16 * MIB):
        tag = multipart(data, part_size)
        assert guess(path, tag) == guess(str(path), f'"{tag}"', threads=1) == part_size
        assert etag(path, guess(path, tag)) == tag
    assert guess(path, hashlib.md5(data).hexdigest().upper()) == 0
    # Another file, and an odd size.
    assert guess(path, multipart(data[:-1] + b"x", 8 * MIB)) is None
    assert guess(path, multipart(data, 5_000_011)) is None
    assert guess(path, hashlib.md5(b"x").hexdigest()) is None
    for wrong in ("", "x", "7" * 31, f"{'7' * 32}-0", f"{'7' * 32}-", f"{'7' * 32}-1-1"):
        with pytest.raises(ValueError, match="32 hexadecimal digits"):
            guess(path, wrong)


def test_errors_are_raised(tmp_path):
    missing = tmp_path / "missing"
    for call in (lambda path: etag(path), lambda path: checksum(path, "MD5"), lambda path: guess(path, "7" * 32)):
        with pytest.raises(FileNotFoundError) as error:
            call(missing)
        assert error.value.filename == str(missing)
        with pytest.raises(OSError) as error:
            call(tmp_path)
        assert error.value.filename == str(tmp_path)
        with pytest.raises(TypeError):
            call(7)


def test_arguments(write):
    path = write(b"abc")
    for call in (lambda size: etag(path, size), lambda size: checksum(path, "MD5", size, True)):
        with pytest.raises(ValueError, match="part_size must be at least 1"):
            call(0)
        with pytest.raises(OverflowError):
            call(-1)
    with pytest.raises(OSError, match="more than 10,000 parts of 1 bytes"):
        etag(write(bytes(10_001), "long"), 1)
    with pytest.raises(ValueError, match="unknown checksum algorithm `MD6`: use CRC32, "):
        checksum(path, "MD6")
    with pytest.raises(ValueError, match="no checksum algorithm given"):
        checksum(path, [])
    for wrong in (7, [7], b"MD5", None):
        with pytest.raises(TypeError, match="expected the name of a checksum algorithm, or a list of names"):
            checksum(path, wrong)
    with pytest.raises(ValueError, match="there are no composites of CRC64NVME"):
        checksum(path, ["SHA1", "CRC64NVME"], composite=True)
    with pytest.raises(ValueError, match="no part_size; leave it out, or pass composite=True"):
        checksum(path, "CRC32", MIB)
    for wrong in (0, -1):
        for call in (lambda: etag(path, threads=wrong), lambda: manyhash.s3.verify(".", ".", threads=wrong)):
            with pytest.raises((ValueError, OverflowError)):
                call()
    for one in ("file", b"file"):
        with pytest.raises(TypeError, match="not one path"):
            etag_files(one)


def test_interrupts(tmp_path):
    # Long enough to be interrupted, and nothing on a disk.
    path = tmp_path / "sparse"
    with open(path, "wb") as file:
        file.truncate(1 << 40)
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        for call in (lambda: etag(path, 1 << 30), lambda: guess(path, f"{'7' * 32}-1024")):
            timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
            timer.start()
            start = time.monotonic()
            with pytest.raises(KeyboardInterrupt):
                call()
            timer.join()
            assert time.monotonic() - start < 60
    finally:
        signal.signal(signal.SIGINT, handler)
        # What is begun is read to its end, which is near now.
        os.truncate(path, 0)


@pytest.mark.parametrize("name", manyhash.s3.__all__)
def test_docstrings(name):
    assert inspect.getdoc(getattr(manyhash.s3, name))


def test_outcomes_are_values():
    outcome = manyhash.s3.Outcome("a", "same", 3, "md5")
    assert outcome == manyhash.s3.Outcome("a", "same", size=3, check="md5", reason=None)
    assert {outcome} == {pickle.loads(pickle.dumps(outcome))}
    with pytest.raises(AttributeError):
        outcome.state = "differs"
