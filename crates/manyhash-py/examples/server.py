import asyncio

import manyhash


async def main():
    engine = manyhash.Engine()
    stream = engine.stream(["md5", "sha256"])
    await stream.write(b"body" * 100_000)
    etag, checksum = await stream.finish()
    print(etag.hex(), checksum.hex(), stream.written)
    bodies = [b"body %d" % i * 5000 for i in range(100)]
    digests = await asyncio.gather(*(engine.digest("sha1", body) for body in bodies))
    print(len(digests), digests[0].hex())


asyncio.run(main())
