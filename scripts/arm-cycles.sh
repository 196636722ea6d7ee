#!/usr/bin/env bash
# Prints what the Arm kernels take, in cycles per byte, by llvm-mca's models of CPUs: see arm-cycles.py.
#
#     scripts/arm-cycles.sh
#
# Needs Debian's packages, or LLVM_MCA set to the program of LLVM 22 or newer.
set -euo pipefail
cd "$(dirname "$0")/.."

source scripts/arm.sh
wanted c++filt binutils

if [[ -z ${LLVM_MCA:-} ]]; then
    [[ -e $debian/apt/llvm-22.done ]] || unpack llvm-22 libllvm22
    LLVM_MCA=$debian/usr/lib/llvm-22/bin/llvm-mca
fi
# The compiler leaves the assembly of builds before.
cargo clean --quiet --release -p manyhash-core --target $target
cargo rustc --quiet --locked --release -p manyhash-core --target $target -- \
    --emit asm -C symbol-mangling-version=v0 -C debuginfo=0
assembly=$CARGO_TARGET_DIR/$target/release/deps
"${RUSTC:-rustc}" --version
cat "$assembly"/manyhash_core-*.s | unpacked scripts/arm-cycles.py --llvm-mca "$LLVM_MCA"
