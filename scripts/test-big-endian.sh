#!/usr/bin/env bash
# Tests the kernels on a CPU whose most significant byte comes first: cross-compiled, and run under emulation.
set -euo pipefail
cd "$(dirname "$0")/.."

target=s390x-unknown-linux-gnu
source scripts/cross.sh

cargo test --quiet --locked -p manyhash-core --target $target --tests
echo "All tests passed."
