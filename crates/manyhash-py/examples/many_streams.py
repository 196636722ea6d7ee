import manyhash

uploads = [manyhash.md5() for _ in range(64)]
for _ in range(3):
    manyhash.update_many(uploads, [b"chunk" * 10_000] * len(uploads))
print(uploads[0].hexdigest())
