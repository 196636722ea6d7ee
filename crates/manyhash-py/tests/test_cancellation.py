"""Whatever is cancelled at any time, a digest is that of the bytes that its caller knows to be written."""

import asyncio
import contextlib
import hashlib
import random

import manyhash
import pytest

CHUNK = bytes(range(256)) * 400
# Longer than what a writer hashes by itself, so that it waits for memory.
LONG = CHUNK * 20
SIZES = [3_000, 20_000, 70_000, 300_000, 700_000]


@contextlib.asynccontextmanager
async def load(engine, tasks=4):
    """Others, who keep the engine's memory used up."""

    async def digest():
        while True:
            await engine.digest("md5", bytes(400_000))

    others = [asyncio.create_task(digest()) for _ in range(tasks)]
    try:
        yield
    finally:
        for other in others:
            other.cancel()
        await asyncio.gather(*others, return_exceptions=True)


def small():
    return manyhash.Engine(threads=1, memory=1 << 20)


async def given_up(awaitable, seconds):
    """What is awaited, or nothing once the time is over."""
    try:
        async with asyncio.timeout(seconds):
            return True, await awaitable
    except TimeoutError:
        return False, None


async def by_wait_for(awaitable, seconds):
    try:
        return True, await asyncio.wait_for(awaitable, seconds)
    except TimeoutError:
        return False, None


async def upload(engine, seed, give_up):
    """A message whose writes and end are given up again and again, and tried again."""
    choose = random.Random(seed)
    stream, expected, cancelled = engine.stream("sha256"), hashlib.sha256(), 0
    written = 0
    for i in range(25):
        chunk = b"%5d" % i + bytes([seed]) * choose.choice(SIZES)
        while not (await give_up(stream.write(chunk), choose.choice([0, 1e-5, 1e-4, 5e-4, 2e-3, 0.5])))[0]:
            cancelled += 1
        expected.update(chunk)
        written += len(chunk)
        assert stream.written == written
    while True:
        done, digest = await give_up(stream.finish(), choose.choice([0, 1e-5, 1e-4, 1e-3]))
        if done:
            break
        cancelled += 1
    assert digest == expected.digest(), seed
    return cancelled


@pytest.mark.parametrize("give_up", [given_up, by_wait_for])
def test_uploads_in_a_storm_of_timeouts(give_up):
    async def main():
        engine = small()
        async with load(engine):
            cancelled = await asyncio.gather(*(upload(engine, seed, give_up) for seed in range(20)))
        assert sum(cancelled) > 100

    asyncio.run(main())


def test_uploads_in_a_storm_of_timeouts_under_uvloop():
    uvloop = pytest.importorskip("uvloop")

    async def main():
        engine = small()
        async with load(engine):
            await asyncio.gather(*(upload(engine, seed, given_up) for seed in range(10)))

    uvloop.run(main())


def test_digests_in_a_storm_of_timeouts():
    async def one(engine, seed):
        choose = random.Random(seed)
        name = choose.choice(["md5", "sha256", ["sha1", "sha512"]])
        data = b"%d" % seed + bytes(choose.choice([10, *SIZES]))
        names = [name] if isinstance(name, str) else name
        expected = tuple(hashlib.new(each, data).digest() for each in names)
        for _ in range(20):
            done, digest = await given_up(engine.digest(name, data), choose.choice([0, 1e-5, 1e-4, 1e-3, 0.5]))
            if done:
                assert digest == (expected[0] if isinstance(name, str) else expected)

    async def main():
        engine = small()
        await asyncio.gather(*(one(engine, seed) for seed in range(60)))
        assert await engine.digest("md5", CHUNK) == hashlib.md5(CHUNK).digest()

    asyncio.run(main())


async def waiting_write(engine, stream, chunk):
    """A write that waits for memory, and the future that it waits for."""
    busy = [engine.digest("md5", bytes(4 << 20)) for _ in range(4)]
    await asyncio.sleep(0)
    write = stream.write(chunk)
    return busy, write, write.send(None)


def test_a_write_that_may_go_on_is_cancelled():
    """There is room, and the task has been told, when it is cancelled before it goes on."""

    async def main():
        engine = small()
        stream = engine.stream("sha256")
        await stream.write(b"head")
        busy, write, room = await waiting_write(engine, stream, LONG)
        with pytest.raises(RuntimeError, match="a write of this stream is not done"):
            stream.write(b"x")
        with pytest.raises(RuntimeError, match="a write of this stream is not done"):
            stream.finish()
        while not room.done():
            await asyncio.sleep(0.001)
        with pytest.raises(asyncio.CancelledError):
            write.throw(asyncio.CancelledError())
        assert stream.written == 4
        await stream.write(b"tail")
        assert await stream.finish() == hashlib.sha256(b"headtail").digest()
        with pytest.raises(RuntimeError, match="finished"):
            stream.write(b"")
        with pytest.raises(RuntimeError, match="already awaited"):
            await write
        await asyncio.gather(*busy)

    asyncio.run(main())


def test_a_task_that_is_cancelled_in_the_same_turn():
    async def main():
        engine = small()
        stream = engine.stream("sha256")
        busy = [engine.digest("md5", bytes(4 << 20)) for _ in range(4)]
        await asyncio.sleep(0)

        async def write():
            write = stream.write(LONG)

            class Watched:
                # Awaited as the write itself, with a look at the future that it waits for.
                def __await__(self):
                    value = None
                    while True:
                        try:
                            future = write.send(value)
                        except StopIteration:
                            return
                        # Before the task's own callback, which comes last.
                        future.add_done_callback(lambda _: task.cancel())
                        try:
                            value = yield future
                        except BaseException as error:
                            write.throw(error)
                            raise

            await Watched()

        task = asyncio.create_task(write())
        with pytest.raises(asyncio.CancelledError):
            await task
        assert stream.written == 0
        assert await stream.finish() == hashlib.sha256().digest()
        await asyncio.gather(*busy)

    asyncio.run(main())


def test_a_write_before_it_begins_is_cancelled():
    async def main():
        stream = small().stream("md5")
        task = asyncio.create_task(stream.write(b"lost"))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        stream.write(b"lost").close()
        await stream.write(b"abc")
        assert await stream.finish() == hashlib.md5(b"abc").digest()

    asyncio.run(main())


def test_written_tells_what_a_task_of_its_own_has_done():
    async def main():
        engine = small()
        stream, written = engine.stream("md5"), 0
        async with load(engine):
            choose = random.Random(7)
            for _ in range(200):
                chunk = bytes(choose.choice(SIZES))
                while stream.written == written:
                    await given_up(asyncio.gather(stream.write(chunk)), choose.choice([1e-5, 1e-4, 1e-3]))
                written += len(chunk)
        assert stream.written == written
        assert await stream.finish() == hashlib.md5(bytes(written)).digest()

    asyncio.run(main())


def test_a_write_that_is_never_awaited():
    async def main():
        stream = small().stream("md5")
        await stream.write(b"head")
        stream.write(b"forgotten")
        for call in (lambda: stream.write(b"tail"), stream.finish):
            with pytest.raises(RuntimeError, match="never awaited"):
                call()

    asyncio.run(main())


def test_finish_may_be_awaited_again():
    async def main():
        engine = small()
        stream = engine.stream(["md5", "sha1"])
        expected = hashlib.md5(CHUNK * 100).digest(), hashlib.sha1(CHUNK * 100).digest()
        for _ in range(100):
            await stream.write(CHUNK)
        finish = asyncio.create_task(stream.finish())
        await asyncio.sleep(0)
        finish.cancel()
        await asyncio.gather(finish, return_exceptions=True)
        # That it is never awaited does no harm.
        stream.finish()
        assert await stream.finish() == expected
        assert await stream.finish() == expected
        with pytest.raises(RuntimeError, match="finished"):
            stream.write(b"more")

    asyncio.run(main())


def test_calls_are_coroutines():
    stream = manyhash.Engine().stream("md5")
    asyncio.run(stream.write(b"abc"))
    assert asyncio.iscoroutine(stream.finish())
    assert asyncio.run(stream.finish()) == hashlib.md5(b"abc").digest()

    async def main():
        streams = [manyhash.Engine().stream("md5") for _ in range(3)]
        async with asyncio.TaskGroup() as group:
            for each in streams:
                group.create_task(each.write(b"abc"))
        return await asyncio.gather(*(asyncio.shield(each.finish()) for each in streams))

    assert asyncio.run(main()) == [hashlib.md5(b"abc").digest()] * 3
