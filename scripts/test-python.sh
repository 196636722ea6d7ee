#!/usr/bin/env bash
# The Python module: lints, then the wheel, built and installed into a fresh virtual environment, its tests beside
# hashlib, and its examples. Needs a Rust toolchain, Python 3.11 or newer, and the network for Python's packages.
set -euo pipefail
cd "$(dirname "$0")/.."
crate=$PWD/crates/manyhash-py
target=${CARGO_TARGET_DIR:-$PWD/target}
mkdir -p "$target"
target=$(cd "$target" && pwd)
python=${PYTHON:-python3}

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "$0: Python 3.11 or newer is needed; say which with PYTHON=" >&2
    exit 1
fi

environment=$target/python/environment wheels=$target/python/wheels
rm -rf "$target/python"
mkdir -p "$wheels"
if ! "$python" -m venv "$environment" 2>/dev/null; then
    # Debian has it in a package of its own.
    apt-get update
    apt-get install -y --no-install-recommends python3-venv
    "$python" -m venv "$environment"
fi
"$environment/bin/pip" install --quiet --disable-pip-version-check 'maturin>=1.16,<2'

cargo clippy -p manyhash-py --all-targets -- -D warnings
CARGO_TARGET_DIR=$target "$environment/bin/maturin" build --release \
    --manifest-path "$crate/Cargo.toml" --interpreter "$environment/bin/python" --out "$wheels"
wheel=("$wheels"/*.whl)
"$environment/bin/pip" install --quiet --disable-pip-version-check "${wheel[0]}[test,polars,pandas,duckdb]"

# Not from the source tree, whose package has no module in it.
cd "$target/python"
"$environment/bin/python" -m pytest -q -p no:cacheprovider "$crate/tests"
for example in "$crate"/examples/*.py; do
    echo "== ${example##*/}"
    "$environment/bin/python" "$example"
done

# Each extra brings all that its import needs.
for extra in polars:expression pandas:accessor duckdb:sql; do
    alone=$target/python/${extra%:*}
    "$python" -m venv "$alone"
    "$alone/bin/pip" install --quiet --disable-pip-version-check "${wheel[0]}[${extra%:*}]"
    "$alone/bin/python" "$crate/examples/${extra#*:}.py" >/dev/null
    echo "== manyhash[${extra%:*}] alone"
done

# In slow mode the oldest versions that the extras name; there are none for newer Pythons.
if [[ -n ${MANYHASH_SLOW:-} ]] && "$python" -c 'import sys; sys.exit(sys.version_info >= (3, 13))'; then
    oldest=$target/python/oldest
    "$python" -m venv "$oldest"
    "$oldest/bin/pip" install --quiet --disable-pip-version-check "${wheel[0]}[test,polars,pandas,duckdb]" \
        'duckdb==1.4.1' 'numpy<2' 'pandas==2.1.1' 'polars==1.35.2' 'pyarrow==16.0.0'
    "$oldest/bin/python" -m pytest -q -p no:cacheprovider "$crate/tests"
    echo "== the oldest versions of the extras"
fi
echo "All tests of the Python module passed."
