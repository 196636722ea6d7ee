#!/usr/bin/env bash
# Everything that must pass: formatting, lints, documentation, and the tests on every backend that this CPU has.
# Needs a Rust toolchain and a C compiler; the benchmarks, which link OpenSSL and AWS-LC, are not built here.
set -euo pipefail
cd "$(dirname "$0")/.."

# Not all features of the programs: one links OpenSSL too.
packages=(-p manyhash-core -p manyhash-map -p manyhash-stdio -p manyhash -p manyhash-cli)
features=(--features manyhash/arrow,manyhash/digest,manyhash/map,manyhash/others,manyhash/prometheus)

cargo fmt --all --check
cargo clippy "${packages[@]}" --all-targets "${features[@]}" -- -D warnings
RUSTDOCFLAGS="-D warnings" cargo doc "${packages[@]}" "${features[@]}" --no-deps
# Without the standard library, for whatever the target was compiled for.
cargo test -p manyhash-core --no-default-features --tests

# The engine under a model checker, which has locks and threads of its own and so a build of its own.
RUSTFLAGS="--cfg manyhash_shuttle -D warnings" CARGO_TARGET_DIR=target/shuttle \
    cargo test -p manyhash --lib engine::model

# The best backend with everything, then each lower tier; those that this CPU has not, the program itself refuses.
cargo test "${packages[@]}" "${features[@]}"
cargo build -p manyhash-cli
best=
for backend in avx512 avx2 sse2 portable; do
    if MANYHASH_BACKEND=$backend target/debug/manysum </dev/null >/dev/null 2>&1; then
        if [[ -z $best ]]; then
            best=$backend
            echo "== $backend is the best, and was tested"
            continue
        fi
        echo "== MANYHASH_BACKEND=$backend"
        # The simulation of the schedule is the same on all.
        MANYHASH_BACKEND=$backend cargo test -p manyhash --all-features --tests -- --skip makespan
    else
        echo "== MANYHASH_BACKEND=$backend: not on this CPU"
    fi
done
echo "All tests passed."
