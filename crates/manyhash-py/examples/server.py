import asyncio

import manyhash


async def main():
    engine = manyhash.Engine()
    stream = engine.stream(["md5", "sha256"])
    await stream.write(b"body" * 100_000)
    etag, checksum = await stream.finish()
    print(etag.hex(), checksum.hex(), (await engine.digest("sha1", b"another")).hex())


asyncio.run(main())
