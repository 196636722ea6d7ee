"""Digests of many messages gathered by asyncio, beside hashlib on the loop's own thread. See ../README.md."""

import argparse
import asyncio
import hashlib
import os
import statistics
import time

import manyhash

ALGORITHMS = ("md5", "sha256")
SIZES = (1 << 10, 4 << 10, 16 << 10, 64 << 10, 1 << 20)


async def gathered(engine, algorithm, messages):
    return await asyncio.gather(*(engine.digest(algorithm, message) for message in messages))


async def one_by_one(engine, algorithm, messages):
    return [await engine.digest(algorithm, message) for message in messages]


async def together(engine, algorithm, messages):
    return await engine.digest_many(algorithm, messages)


async def inline(_, algorithm, messages):
    function = getattr(hashlib, algorithm)
    return [function(message).digest() for message in messages]


async def compare(engine, algorithm, messages, rounds):
    """Seconds of each way, the median over rounds, each of which begins with the next way."""
    ways = [inline, gathered, one_by_one, together]
    expected = await inline(engine, algorithm, messages)
    for way in ways:
        if await way(engine, algorithm, messages) != expected:
            raise SystemExit(f"{way.__name__}: a wrong digest by {algorithm}")
    samples = {way: [] for way in ways}
    for i in range(rounds):
        for way in ways[i % len(ways) :] + ways[: i % len(ways)]:
            begin = time.perf_counter()
            await way(engine, algorithm, messages)
            samples[way].append(time.perf_counter() - begin)
    return {way: statistics.median(times) for way, times in samples.items()}


async def main(options):
    engine = manyhash.Engine()
    print("microseconds a message, and how many times as fast as hashlib")
    for size in SIZES:
        count = min(options.messages, max(options.bytes // size, 1))
        messages = [os.urandom(size) for _ in range(count)]
        for algorithm in ALGORITHMS:
            medians = await compare(engine, algorithm, messages, options.rounds)
            line = f"{algorithm:<7} {count:>5} of {size:>8} bytes:"
            for way, seconds in medians.items():
                line += f"  {way.__name__} {seconds / count * 1e6:.2f} ({medians[inline] / seconds:.2f})"
            print(line, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=3000, help="messages at the most")
    parser.add_argument("--bytes", type=int, default=192 << 20, help="bytes of all messages at the most")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--one-core", action="store_true", help="all threads on one core")
    options = parser.parse_args()
    if options.one_core:
        os.sched_setaffinity(0, [max(os.sched_getaffinity(0))])
    asyncio.run(main(options))
