#!/usr/bin/env bash
# The S3 server beside versitygw, MinIO and nginx: installs these where they are missing, builds, and runs the benchmark.
#
#     scripts/bench-s3.sh [OPTIONS OF manyhash-bench s3]
#     scripts/bench-s3.sh --install                         installs the peers only
#
# Needs Go for versitygw and MinIO, which are built into s3/bin below the target directory, and apt for nginx and wrk. Use a
# machine that does nothing else, with 12 GB free on the disk and 10 GB in /dev/shm. The run takes most of an hour.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target/s3/bin"
bin=$(cd "$target/s3/bin" && pwd)

if ! { command -v nginx && command -v wrk; } >/dev/null; then
    apt-get update
    # Debian starts what it installs, and a server that idles is not wanted here.
    RUNLEVEL=1 apt-get install -y --no-install-recommends nginx-light wrk
fi
[[ -x $bin/versitygw ]] || GOBIN=$bin go install github.com/versity/versitygw/cmd/versitygw@v1.8.0
[[ -x $bin/minio ]] || GOBIN=$bin go install github.com/minio/minio@latest
if [[ ${1:-} == --install ]]; then
    exit
fi

cargo build --release --locked -p manyhash-cli
cd benchmarks
cargo build --release --locked
# As many open files as the system allows: one test holds 10,000 connections.
ulimit -n "$(ulimit -Hn)"
exec cargo run --release --quiet --locked -- s3 "$@"
