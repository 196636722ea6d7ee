import manyhash
import polars as pl

frame = pl.DataFrame({"mail": ["a@example.org", None, "b@example.org"]})
print(frame.with_columns(token=pl.Series(manyhash.digest_column("sha256", frame["mail"], hex=True))))
