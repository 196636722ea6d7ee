import manyhash.pandas
import pandas as pd

print(pd.Series(["a@example.org", None]).manyhash.sha256())
