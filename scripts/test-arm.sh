#!/usr/bin/env bash
# Tests the Arm kernels on an x86-64 host: cross-compiled, and run under emulation as four CPUs that differ in their
# extensions, each tier that a CPU has forced by MANYHASH_BACKEND. On an Arm host scripts/test.sh tests what that one has.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ $(uname -m) != x86_64 ]]; then
    echo "scripts/test-arm.sh: the host is no x86-64; scripts/test.sh tests what it has" >&2
    exit 1
fi
source scripts/arm.sh

core=(cargo test --quiet --locked -p manyhash-core --target $target)
library=(cargo test --quiet --locked -p manyhash --features digest --target $target)
# A test that runs its own program again would run it on the host.
again=(--skip no_threads::)

export QEMU_CPU=max
"${core[@]}" --tests
"${library[@]}" --test hashing --test guard_pages -- "${again[@]}"

# All extensions; no SVE; Armv8.2 without SHA-512 and SHA-3; Armv8.0. What a CPU's own instructions do is tested above; here,
# that no kernel is taken that it lacks, and that its tiers are right without them.
while read -r QEMU_CPU tiers; do
    echo "== $QEMU_CPU"
    "${core[@]}" --test names --test kernels
    for tier in $tiers; do
        echo "== $QEMU_CPU, MANYHASH_BACKEND=$tier"
        MANYHASH_BACKEND=$tier "${library[@]}" --test hashing -- "${again[@]}" batch:: digests:: hashers:: hmac::
    done
done <<'EOF'
max sve2 neon portable
max,sve=off neon
neoverse-n1 neon portable
cortex-a72 neon
EOF
echo "All tests passed."
