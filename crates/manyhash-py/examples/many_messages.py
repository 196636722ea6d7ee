import manyhash

messages = [b"row %d" % i for i in range(100_000)]
digests = manyhash.digest_many("sha256", messages)
print(len(digests), manyhash.hexdigest_many("md5", messages)[0])
