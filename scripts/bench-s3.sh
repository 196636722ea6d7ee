#!/usr/bin/env bash
# The S3 server beside versitygw, MinIO and nginx, or the S3 client beside its peers: installs these where they are missing,
# builds, and runs the benchmark.
#
#     scripts/bench-s3.sh [OPTIONS OF manyhash-bench s3]
#     scripts/bench-s3.sh client [--quick] [--rounds N]     manyhash s3 beside openssl, rclone, s5cmd and aws-cli
#     scripts/bench-s3.sh --install                         installs the server's peers only
#
# Needs Go for versitygw, MinIO and s5cmd, which are built into s3/bin below the target directory, apt for nginx and wrk, or
# rclone, and Python 3.11 for aws-cli. Use a machine that does nothing else, with 12 GB free on the disk and 10 GB in /dev/shm.
# The run takes most of an hour, that of the client some minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/s3/installed.sh

if [[ ${1:-} == client ]]; then
    forget_surroundings
    install_clients
    cargo build --release --locked -p manyhash-cli -p manysum
    (cd benchmarks && cargo run --release --quiet --locked -- etag "${@:2}")
    work=$(mktemp -d -p /dev/shm)
    trap 'rm -rf "$work"' EXIT
    "$python" "$mine/speed.py" "$target/release" "$work" --tools "$tools" "${@:2}"
    exit
fi

if ! { command -v nginx && command -v wrk; } >/dev/null; then
    apt-get update
    # Debian starts what it installs, and a server that idles is not wanted here.
    RUNLEVEL=1 apt-get install -y --no-install-recommends nginx-light wrk
fi
install_servers
if [[ ${1:-} == --install ]]; then
    exit
fi

cargo build --release --locked -p manyhash-cli
cd benchmarks
cargo build --release --locked
# As many open files as the system allows: one test holds 10,000 connections.
ulimit -n "$(ulimit -Hn)"
exec cargo run --release --quiet --locked -- s3 "$@"
