#!/usr/bin/env bash
# Tests the Arm kernels on an x86-64 host: cross-compiled, and run under emulation as four CPUs that differ in their
# extensions, each tier that a CPU has forced by MANYHASH_BACKEND. On an Arm host scripts/test.sh tests what that one has.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ $(uname -m) != x86_64 ]]; then
    echo "scripts/test-arm.sh: nothing to do; scripts/test.sh tests what this CPU has"
    exit 0
fi
source scripts/arm.sh
wanted qemu-aarch64 qemu-user
wanted aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu libc6-dev-arm64-cross
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
# QEMU_CPU says which CPU is emulated.
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"

core=(cargo test --quiet --locked -p manyhash-core --target $target)
library=(cargo test --quiet --locked -p manyhash --features digest --target $target)
# But for the standards' Monte Carlo tests, which take long, and test chains more than kernels.
QEMU_CPU=max "${core[@]}" --tests -- --skip monte_carlo

# Armv9 with all extensions; the same without SVE; Armv8.2 without SHA-512 and SHA-3; Armv8.0.
while read -r -u 3 QEMU_CPU tiers; do
    export QEMU_CPU
    # What has most and what has least; those between in slow mode.
    [[ $QEMU_CPU == max || $QEMU_CPU == cortex-a72 || -n ${MANYHASH_SLOW:-} ]] || continue
    echo "== $QEMU_CPU"
    # No kernel is taken that the CPU lacks, and its tiers are right without it.
    [[ $QEMU_CPU == max ]] || "${core[@]}" --test names --test kernels
    for tier in $tiers; do
        echo "== $QEMU_CPU, MANYHASH_BACKEND=$tier"
        tests=(batch::)
        [[ $tier != sve2 ]] || tests+=(column:: digests:: hashers:: hmac:: packed:: pbkdf2::)
        MANYHASH_BACKEND=$tier "${library[@]}" --test hashing -- "${tests[@]}"
    done
done 3<<'EOF'
max sve2 neon
max,sve=off neon
neoverse-n1 neon
cortex-a72 neon portable
EOF
echo "All tests passed."
