"""The engine under asyncio."""

import asyncio
import gc
import hashlib
import subprocess
import sys
import threading

import manyhash
import pytest

from test_hashlib import NAMES, oracle

DATA = bytes(range(256)) * 40_000


@pytest.mark.parametrize("name", NAMES)
def test_digests(name):
    async def main():
        engine = manyhash.Engine()
        for data in (b"", b"abc", DATA, bytearray(DATA), memoryview(DATA)[5:]):
            assert await engine.digest(name, data) == oracle(name, data).digest()
        many = [DATA[i : i + 30_000 * (i % 7)] for i in range(200)]
        assert await asyncio.gather(*(engine.digest(name, data) for data in many)) == [
            oracle(name, data).digest() for data in many
        ]

    asyncio.run(main())


def test_several_names():
    async def main():
        engine = manyhash.Engine(threads=1)
        expected = hashlib.md5(DATA).digest(), hashlib.sha256(DATA).digest()
        assert await engine.digest(["md5", "sha256"], DATA) == expected
        assert await engine.digest(["md5"], b"") == (hashlib.md5().digest(),)
        stream = engine.stream(("md5", "sha256"))
        await stream.write(DATA)
        assert await stream.finish() == expected

    asyncio.run(main())


@pytest.mark.parametrize("name", NAMES)
def test_digests_that_are_gathered(name):
    """Of all lengths at once, so that some are hashed at once, some together, and some alone."""

    async def main():
        engine = manyhash.Engine(memory=4 << 20)
        sizes = [0, 1, 2047, 2048, 2049, 16_383, 16_384, 65_535, 65_536, 300_000]
        many = [b"%d" % i * size for i, size in enumerate(sizes * 30)]
        expected = [oracle(name, data).digest() for data in many]
        assert await asyncio.gather(*(engine.digest(name, data) for data in many)) == expected

        async def one(data):
            return await engine.digest(name, bytearray(data)), await engine.digest([name, "md5"], data)

        pairs = await asyncio.gather(*(one(data) for data in many))
        assert [digest for digest, _ in pairs] == expected
        assert [both for _, both in pairs] == [(each, hashlib.md5(data).digest()) for each, data in zip(expected, many)]

    asyncio.run(main())


@pytest.mark.parametrize("name", NAMES)
def test_digest_many(name):
    async def main():
        engine = manyhash.Engine(memory=4 << 20)
        many = [bytes([i % 256]) * (i * 37 % 5000) for i in range(3000)] + [DATA, bytearray(DATA)]
        digests, others, none = await asyncio.gather(
            engine.digest_many(name, iter(many)), engine.digest_many(name, many[5:9]), engine.digest_many(name, [])
        )
        assert digests == [oracle(name, data).digest() for data in many]
        assert (others, none) == (digests[5:9], [])
        given_up = engine.digest_many(name, [DATA] * 100)
        await asyncio.sleep(0)
        given_up.cancel()
        assert await engine.digest_many(name, many[:3]) == digests[:3]
        with pytest.raises(TypeError, match="not one message"):
            engine.digest_many(name, b"abc")
        with pytest.raises(TypeError, match="Strings must be encoded"):
            engine.digest_many(name, [b"", "text"])

    asyncio.run(main())


def test_streams():
    async def one(engine, name, size):
        stream = engine.stream(name)
        for start in range(0, len(DATA), size):
            await stream.write(DATA[start : start + size])
        assert await stream.finish() == oracle(name, DATA).digest()

    async def main():
        # Little memory, so that writers wait in line.
        engine = manyhash.Engine(threads=2, memory=1 << 20)
        await asyncio.gather(*(one(engine, name, size) for name in NAMES for size in (5_000, 70_000, 900_000)))

    asyncio.run(main())


def test_a_buffer_may_change_once_it_is_handed_over():
    async def main():
        engine = manyhash.Engine()
        data = bytearray(DATA)
        digest = engine.digest("sha512", data)
        data[:] = bytes(len(data))
        data.append(1)
        assert await digest == hashlib.sha512(DATA).digest()

    asyncio.run(main())


def test_a_digest_may_be_forgotten():
    async def main():
        engine = manyhash.Engine(threads=1, memory=1 << 20)
        for _ in range(50):
            engine.digest("md5", DATA)
        assert await engine.digest("sha1", b"abc" * 100_000) == hashlib.sha1(b"abc" * 100_000).digest()

    asyncio.run(main())


def test_cancelled_digests_are_given_up():
    async def main():
        engine = manyhash.Engine(threads=1, memory=1 << 20)
        digests = [engine.digest("md5", DATA) for _ in range(200)]
        for digest in digests[:-1]:
            digest.cancel()
        assert await digests[-1] == hashlib.md5(DATA).digest()
        results = await asyncio.gather(*digests, return_exceptions=True)
        assert all(isinstance(result, (asyncio.CancelledError, bytes)) for result in results)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await asyncio.gather(*(engine.digest("sha1", DATA) for _ in range(20)))

    asyncio.run(main())


def test_streams_and_digests_keep_the_engine():
    async def main():
        stream = manyhash.Engine(memory=1 << 20).stream("md5")
        gc.collect()
        await stream.write(DATA)
        assert await stream.finish() == hashlib.md5(DATA).digest()
        engine = manyhash.Engine(threads=1, memory=1 << 20)
        digests = [engine.digest("md5", DATA) for _ in range(20)]
        del engine
        assert set(await asyncio.gather(*digests)) == {hashlib.md5(DATA).digest()}

    asyncio.run(main())


def test_bytes_are_held_and_let_go():
    async def main():
        engine = manyhash.Engine()
        data = DATA + b"own"
        count = sys.getrefcount(data)
        digest = engine.digest("md5", data)
        assert await digest == hashlib.md5(data).digest()
        del digest
        for _ in range(100):
            # A reference let go of by the engine's thread is given back when this module is called next.
            manyhash.md5()
            if sys.getrefcount(data) == count:
                break
            await asyncio.sleep(0.01)
        assert sys.getrefcount(data) == count

    asyncio.run(main())


def test_no_loop():
    engine = manyhash.Engine()
    with pytest.raises(RuntimeError, match="no running event loop"):
        engine.digest("md5", b"")
    stream = engine.stream("md5")
    with pytest.raises(RuntimeError, match="no running event loop"):
        stream.write(b"lost").send(None)

    async def main():
        await stream.write(b"abc")
        assert await stream.finish() == hashlib.md5(b"abc").digest()

    asyncio.run(main())


def test_a_loop_that_is_closed_early():
    engine = manyhash.Engine(threads=1, memory=1 << 20)

    async def leave():
        return [engine.digest("md5", DATA) for _ in range(20)]

    loop = asyncio.new_event_loop()
    left = loop.run_until_complete(leave())
    loop.close()

    async def main():
        assert await engine.digest("sha1", DATA) == hashlib.sha1(DATA).digest()

    asyncio.run(main())
    del left


def test_many_loops_in_many_threads():
    engine = manyhash.Engine()
    failures = []

    async def main():
        digests = await asyncio.gather(*(engine.digest("sha256", DATA[: 100_000 + i]) for i in range(50)))
        if digests != [hashlib.sha256(DATA[: 100_000 + i]).digest() for i in range(50)]:
            failures.append(digests)

    threads = [threading.Thread(target=lambda: asyncio.run(main())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_arguments():
    for arguments in ({"threads": 0}, {"memory": 0}):
        with pytest.raises(ValueError, match="at least 1"):
            manyhash.Engine(**arguments)
    engine = manyhash.Engine()
    with pytest.raises(ValueError, match="unsupported hash type"):
        engine.stream("md6")

    async def main():
        with pytest.raises(TypeError, match="Strings must be encoded"):
            await engine.digest("md5", "text")

    asyncio.run(main())


def test_the_interpreter_may_end_at_any_time():
    # The last thing that runs does not let go of the interpreter, while the engine wakes what nobody awaits any more.
    code = (
        "import asyncio, atexit\n"
        "atexit.register(sum, range(5_000_000))\n"
        "import manyhash\n"
        "engine = manyhash.Engine(threads=1)\n"
        "async def main():\n"
        "    for i in range(40):\n"
        "        asyncio.ensure_future(engine.digest('md5', bytes(100_000 * (i + 1))))\n"
        "    await asyncio.sleep(0)\n"
        "asyncio.new_event_loop().run_until_complete(main())\n"
    )
    for _ in range(5):
        result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
