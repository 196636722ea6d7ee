import manyhash.polars
import polars as pl

frame = pl.LazyFrame({"mail": ["a@example.org", None, "b@example.org"]})
print(frame.with_columns(token=pl.col("mail").manyhash.sha256(hex=True)).collect(engine="streaming"))
