#!/usr/bin/env bash
# What building costs and what comes of it: seconds and CPU seconds of the README's first command and of the whole
# workspace, each from nothing with crates fetched, and the sizes of `manysum` and of the Python wheel.
#
#     scripts/build-figures.sh [DIR]
#
# Builds in DIR (build-figures below the target directory by default), which is removed at the end but for the reports
# of `cargo build --timings`. Needs maturin for the wheel: `pip install maturin`. Use a machine that does nothing else.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "${1:-${CARGO_TARGET_DIR:-target}/build-figures}"
directory=$(cd "${1:-${CARGO_TARGET_DIR:-target}/build-figures}" && pwd)
unset CARGO_TARGET_DIR

# Prints how long a command took, and the CPU time of all its processes.
timed() {
    local what=$1
    shift
    local TIMEFORMAT="$what: %1R s, %1U s of CPU in programs, %1S s in the system"
    time "$@" >"$directory/log" 2>&1 || { cat "$directory/log" >&2; return 1; }
}

# Builds in a directory of its own, and keeps what cargo says of the time each crate took.
build() {
    local what=$1 name=$2
    shift 2
    rm -rf "${directory:?}/$name"
    timed "$what" cargo build --locked --timings --target-dir "$directory/$name" "$@"
    cp "$directory/$name/cargo-timings/cargo-timing.html" "$directory/$name.html"
}

mib() {
    local bytes
    bytes=$(stat -c %s "$1")
    printf '%s: %d.%02d MiB (%d bytes)\n' "$2" $((bytes >> 20)) $(((bytes & 1048575) * 100 >> 20)) "$bytes"
}

cargo fetch --locked
printf '%s, %s, %s cores, %s\n' "$(rustc --version)" "$(git describe --always --dirty)" "$(nproc)" "$(uname -m)"

build "cargo build --release -p manysum" first --release -p manysum
mib "$directory/first/release/manysum" "manysum"
build "cargo build --release -p manyhash-cli" toolbox --release -p manyhash-cli
mib "$directory/toolbox/release/manyhash" "manyhash"
build "cargo build --workspace" workspace --workspace
build "cargo build --workspace --all-targets" all-targets --workspace --all-targets
timed "maturin build --release" maturin build --release --locked --quiet --target-dir "$directory/wheel" \
    --manifest-path crates/manyhash-py/Cargo.toml --out "$directory/wheel/wheels"
mib "$directory/wheel/release/lib_manyhash.so" "the Python module"
mib "$(echo "$directory"/wheel/wheels/*.whl)" "the wheel"
rm -rf "$directory"/{log,first,toolbox,workspace,all-targets,wheel}
echo "Reports: $directory/*.html"
