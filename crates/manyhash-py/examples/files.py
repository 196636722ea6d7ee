import manyhash

paths = [__file__, "no such file"]
for path, digest in zip(paths, manyhash.digest_files("sha256", paths)):
    print(path, digest if isinstance(digest, OSError) else digest.hex())
