import asyncio

import manyhash


async def main():
    stream = manyhash.Engine().stream("sha256")
    for chunk in (b"one " * 100_000, b"two " * 100_000):
        while True:
            try:
                async with asyncio.timeout(5):
                    await stream.write(chunk)
                break
            except TimeoutError:
                # Nothing of the chunk is in the message, so it may be written again.
                print("the engine is busy")
    print((await stream.finish()).hex(), stream.written)


asyncio.run(main())
