#!/usr/bin/env bash
# Prints what the Arm kernels take, in cycles per byte, by llvm-mca's models of CPUs: see arm-cycles.py.
#
#     scripts/arm-cycles.sh
#
# Needs Debian's packages, or LLVM_MCA set to the program of LLVM 22 or newer.
set -euo pipefail
cd "$(dirname "$0")/.."

source scripts/arm.sh

if [[ -z ${LLVM_MCA:-} ]]; then
    [[ -x $arm_debian/usr/lib/llvm-22/bin/llvm-mca ]] || unpack llvm-22 libllvm22
    LLVM_MCA=$arm_debian/usr/lib/llvm-22/bin/llvm-mca
fi
cargo rustc --quiet --locked --release -p manyhash-core --target $arm_target -- \
    --emit asm -C symbol-mangling-version=v0 -C debuginfo=0
assembly=$CARGO_TARGET_DIR/$arm_target/release/deps
# One of the newest build: the compiler leaves those of others.
"${RUSTC:-rustc}" --version
find "$assembly" -name 'manyhash_core-*.s' -newer scripts/arm-cycles.sh -exec cat {} + |
    debian scripts/arm-cycles.py --llvm-mca "$LLVM_MCA"
