"""What users and type checkers are told is so."""

import importlib.metadata
import inspect
import os
import pathlib
import subprocess
import sys

import manyhash
import pytest


def test_it_is_the_wheel_that_is_tested():
    assert "site-packages" in pathlib.Path(manyhash.__file__).parts
    assert importlib.metadata.version("manyhash") == manyhash.__version__


@pytest.mark.parametrize("name", manyhash.__all__)
def test_docstrings(name):
    public = getattr(manyhash, name)
    if isinstance(public, set):
        return
    assert inspect.getdoc(public)
    if inspect.isclass(public):
        for member in vars(public):
            if not member.startswith("_"):
                assert inspect.getdoc(getattr(public, member)), member


def test_all_is_all():
    public = {name for name, value in vars(manyhash).items() if not name.startswith("_") and not inspect.ismodule(value)}
    assert public | {"__version__"} == set(manyhash.__all__)


def test_stubs(tmp_path):
    # pyarrow has no types, and pandas has them elsewhere.
    config = tmp_path / "mypy.ini"
    config.write_text("[mypy]\ndisable_error_code = import-untyped\n")
    command = [sys.executable, "-m", "mypy.stubtest", "--mypy-config-file", str(config), "manyhash"]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


def test_types(tmp_path):
    """A type checker sees what the calls give."""
    script = tmp_path / "typed.py"
    script.write_text(
        "import asyncio, manyhash\n"
        "from typing import assert_type\n"
        "assert_type(manyhash.__version__, str)\n"
        "assert_type(manyhash.sha256(b'').digest(), bytes)\n"
        "assert_type(manyhash.digest_many('md5', [b'', bytearray()]), list[bytes])\n"
        "assert_type(manyhash.digest_files('md5', ['a']), list[bytes | OSError])\n"
        "assert_type(manyhash.digest_files(['md5'], ['a']), list[dict[str, bytes] | OSError])\n"
        "import manyhash.s3\n"
        "assert_type(manyhash.s3.etag('a', 5), str)\n"
        "assert_type(manyhash.s3.etag_files([b'a']), list[str | OSError])\n"
        "assert_type(manyhash.s3.checksum('a', 'SHA256'), str)\n"
        "assert_type(manyhash.s3.checksum('a', ['SHA256']), dict[str, str])\n"
        "assert_type(manyhash.s3.checksum_files(['a'], 'SHA1'), list[str | OSError])\n"
        "assert_type(manyhash.s3.checksum_files(['a'], ['SHA1'], 5, True), list[dict[str, str] | OSError])\n"
        "assert_type(manyhash.s3.guess('a', 'x'), int | None)\n"
        "for outcome in manyhash.s3.verify('a', 's3://b', download=True):\n"
        "    assert_type(outcome, manyhash.s3.Outcome)\n"
        "    assert_type(outcome.reason, str | None)\n"
        "async def main(engine: manyhash.Engine) -> None:\n"
        "    assert_type(await engine.digest('md5', b''), bytes)\n"
        "    assert_type(await engine.stream(['md5']).finish(), tuple[bytes, ...])\n"
        "    asyncio.create_task(engine.stream('md5').write(b''))\n"
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", os.devnull, str(script)]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("backend", ["nonsense", "portable"])
def test_a_forced_backend(backend):
    code = "import manyhash, hashlib; assert manyhash.digest_many('md5', [b'a'] * 99) == [hashlib.md5(b'a').digest()] * 99"
    result = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "MANYHASH_BACKEND": backend}, capture_output=True, text=True
    )
    if backend == "portable":
        assert result.returncode == 0, result.stderr
    else:
        assert "ImportError" in result.stderr
        assert "MANYHASH_BACKEND" in result.stderr
