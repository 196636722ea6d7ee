import os
import sys

import manyhash.s3

# What uploads in parts of 16 MiB and at once give, and the size that gives an ETag.
part_size = 16 << 20
with open("object", "wb") as file:
    file.write(os.urandom(40 << 20))
etag = manyhash.s3.etag("object", part_size)
print(etag, manyhash.s3.guess("object", f'"{etag}"') == part_size)
print(manyhash.s3.checksum("object", ["CRC64NVME", "SHA256"]))
print(manyhash.s3.checksum("object", "SHA256", part_size, composite=True))
os.remove("object")

# objects.py DIRECTORY s3://BUCKET/PREFIX
if len(sys.argv) == 3:
    import boto3

    for outcome in manyhash.s3.verify(*sys.argv[1:], client=boto3.client("s3")):
        if outcome.state != "same":
            print(outcome.name, outcome.state, outcome.reason or outcome.check or "")
