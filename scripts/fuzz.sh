#!/usr/bin/env bash
# Runs fuzz targets for so many seconds each: scripts/fuzz.sh SECONDS [TARGET]...; without names, all of them. Findings are
# kept under fuzz/artifacts, and the corpus under fuzz/corpus. Needs a C++ compiler. With a nightly toolchain
# AddressSanitizer watches; without one, panics and wrong digests are what is found.
set -euo pipefail
cd "$(dirname "$0")/../fuzz"

seconds=${1:?say for how many seconds: scripts/fuzz.sh SECONDS [TARGET]...}
shift
targets=("$@")
if ((${#targets[@]} == 0)); then
    for file in fuzz_targets/*.rs; do
        targets+=("$(basename "$file" .rs)")
    done
fi

# What libFuzzer needs, as `cargo fuzz` has it.
flags="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares"
toolchain=()
if cargo +nightly --version >/dev/null 2>&1; then
    toolchain=(+nightly)
    flags+=" -Zsanitizer=address"
fi
host=$(rustc -vV | sed -n 's/^host: //p')
# With a target named, the flags are not those of build scripts.
RUSTFLAGS=$flags cargo "${toolchain[@]}" build --release --locked --target "$host" --target-dir target

for target in "${targets[@]}"; do
    echo "== $target"
    mkdir -p "corpus/$target" "artifacts/$target" "seeds/$target"
    "target/$host/release/$target" "corpus/$target" "seeds/$target" -artifact_prefix="artifacts/$target/" \
        -max_total_time="$seconds" -timeout=60 -rss_limit_mb=4096 -print_final_stats=1 -verbosity=0
done
echo "No findings in $seconds seconds each."
