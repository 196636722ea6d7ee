#!/usr/bin/env bash
# Everything that must pass: formatting, lints, documentation, and the tests on every backend that this CPU has.
# Needs a Rust toolchain and a C compiler; the benchmarks, which link OpenSSL and AWS-LC, are not built here.
set -euo pipefail
cd "$(dirname "$0")/.."

source scripts/tested.sh

cargo fmt --all --check
cargo clippy "${tested[@]}" --all-targets -- -D warnings
RUSTDOCFLAGS="-D warnings" cargo doc "${tested[@]}" --no-deps
# Without the standard library, for whatever the target was compiled for.
cargo clippy -p manyhash-core --no-default-features -- -D warnings

# The engine under a model checker, which has locks and threads of its own. Only the crate's own tests are built anew: no
# flag reaches what it depends on.
model=$(cargo rustc -p manyhash "${features[@]}" --lib --profile test --message-format json-render-diagnostics \
    -- --cfg manyhash_shuttle -D warnings | sed -n 's/.*"executable":"\([^"]*\)".*/\1/p')
(cd crates/manyhash && "$model" engine::model)

# The best backend with everything, then each lower tier with the library's tests; those that this CPU has not, the program
# itself refuses.
cargo test "${tested[@]}"
library=(--lib)
for file in crates/manyhash/tests/*.rs crates/manyhash/tests/*/main.rs; do
    name=${file#crates/manyhash/tests/} name=${name%/main.rs}
    library+=(--test "${name%.rs}")
done
best=
for backend in avx512 avx2 sse2 sve2 neon portable; do
    if MANYHASH_BACKEND=$backend "${CARGO_TARGET_DIR:-target}/debug/manysum" </dev/null >/dev/null 2>&1; then
        if [[ -z $best ]]; then
            best=$backend
            echo "== $backend is the best, and was tested"
            continue
        fi
        # Where AVX2 is a lower tier too, its tests are enough but in slow mode: the kernels' own tests run every tier.
        if [[ $backend == sse2 && $best == avx512 && -z ${MANYHASH_SLOW:-} ]]; then
            echo "== MANYHASH_BACKEND=$backend: in slow mode only"
            continue
        fi
        echo "== MANYHASH_BACKEND=$backend"
        # The simulation of the schedule is the same on all, and so are the programs' caches and sets.
        MANYHASH_BACKEND=$backend cargo test "${above[@]}" "${library[@]}" -- --skip makespan --skip cache:: --skip known::
    else
        echo "== MANYHASH_BACKEND=$backend: not on this CPU"
    fi
done
echo "All tests passed."
