import manyhash

hasher = manyhash.sha256(b"a message ")
hasher.update(b"in pieces")
print(hasher.hexdigest(), hasher.name)
