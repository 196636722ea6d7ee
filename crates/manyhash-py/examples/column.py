import manyhash
import pyarrow as pa

column = pa.array(["a", None, "b"])
print(pa.array(manyhash.digest_column("sha256", column, hex=True)))
