"""The namespace of Polars' expressions, whose own tests are beside the plugin."""

import hashlib
import subprocess
import sys

import manyhash.polars
import polars as pl


def test_it_is_the_plugin():
    frame = pl.DataFrame({"x": ["a", None]}).select(pl.col("x").manyhash.sha256(hex=True))
    assert frame["x"].to_list() == [hashlib.sha256(b"a").hexdigest(), None]
    assert pl.Expr.manyhash is manyhash.polars.ExprNamespace
    assert pl.Series.manyhash is manyhash.polars.SeriesNamespace


def test_without_the_plugin():
    code = "import sys; sys.modules['manyhash_polars'] = None; import manyhash.polars"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "ImportError: manyhash.polars needs the package manyhash-polars" in result.stderr
