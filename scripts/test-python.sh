#!/usr/bin/env bash
# The Python module and the plugin for Polars: lints, then the wheels, built and installed into a fresh virtual
# environment, their tests beside hashlib, and the examples. Needs a Rust toolchain, Python 3.11 or newer, and the network for Python's packages.
set -euo pipefail
cd "$(dirname "$0")/.."
crates=$PWD/crates
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

cargo clippy -p manyhash-py -p manyhash-polars --all-targets -- -D warnings
for crate in manyhash-py manyhash-polars; do
    CARGO_TARGET_DIR=$target "$environment/bin/maturin" build --release \
        --manifest-path "$crates/$crate/Cargo.toml" --interpreter "$environment/bin/python" --out "$wheels"
done
module=("$wheels"/manyhash-*.whl) plugin=("$wheels"/manyhash_polars-*.whl)
# The plugin first: the module's extra asks for it, and finds it installed.
for wheel in "${plugin[0]}[test]" "${module[0]}[test,polars]"; do
    "$environment/bin/pip" install --quiet --disable-pip-version-check "$wheel"
done

# Not from the source tree, whose packages have no modules in them.
cd "$target/python"
"$environment/bin/python" -m pytest -q -p no:cacheprovider "$crates/manyhash-py/tests" "$crates/manyhash-polars/tests"
for example in "$crates"/manyhash-py/examples/*.py; do
    echo "== ${example##*/}"
    "$environment/bin/python" "$example"
done
echo "All tests of the Python module and of the plugin for Polars passed."
