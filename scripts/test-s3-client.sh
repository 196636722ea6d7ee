#!/usr/bin/env bash
# `manyhash s3` from outside, against servers on this machine: manyhash's own, versitygw and MinIO. What is the same must be
# said to be, whichever client uploaded it in whatever form, and every difference must be found, even one that is made
# meanwhile or in the server's own files. Clients and servers are installed from registries, under the target directory.
#
#   scripts/test-s3-client.sh [--server NAME]... [--seed N]     all servers, if none is named
#   scripts/test-s3-client.sh differences                       prints which tool finds which difference, instead
#
# Needs Rust, Go 1.26 and Python 3.11; rclone is installed by apt-get where it is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/s3/installed.sh
forget_surroundings
install_clients
install_servers

cargo build --quiet -p manyhash-cli
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [[ ${1:-} == differences ]]; then
    "$python" "$mine/differences.py" "$target/debug/manyhash" "$work" --tools "$tools" "${@:2}"
else
    "$python" "$mine/client.py" "$target/debug/manyhash" "$work" --tools "$tools" "$@"
fi
