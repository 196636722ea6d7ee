# What builds programs for 64-bit Arm Linux on another CPU and runs them, for scripts that source this: Rust's standard
# library for that target, a linker, an emulator. Installs what is missing from Debian's packages, where there are such.

arm_target=aarch64-unknown-linux-gnu
arm_packages=()
command -v qemu-aarch64 >/dev/null || arm_packages+=(qemu-user)
command -v aarch64-linux-gnu-gcc >/dev/null || arm_packages+=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross)
if [[ ${#arm_packages[@]} -gt 0 ]]; then
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "${arm_packages[@]}" >/dev/null
fi

# Unpacks Debian's package of the first name to $arm_debian, and what it depends on as far as the pattern matches, and any
# others that are named. Nothing is installed, and no other version of anything replaced.
arm_debian=${CARGO_TARGET_DIR:-target}/arm-debian
mkdir -p "$arm_debian"
arm_debian=$(cd "$arm_debian" && pwd)
unpack() (
    package=$1 pattern=$2
    shift 2
    mkdir -p "$arm_debian"/apt/{lists/partial,cache/archives/partial}
    export APT_CONFIG=$arm_debian/apt/apt.conf
    cat >"$APT_CONFIG" <<EOF
APT::Architectures { "amd64"; "arm64"; };
Dir::State::Lists "$arm_debian/apt/lists";
Dir::Cache "$arm_debian/apt/cache";
APT::Sandbox::User "root";
EOF
    apt-get update -qq
    needed=$(apt-cache depends --recurse --important "$package" | grep -xE "$pattern")
    cd "$arm_debian/apt"
    # shellcheck disable=SC2086 # words
    apt-get download -qq "$package" $needed "$@"
    for file in *.deb; do dpkg -x "$file" "$arm_debian"; done
    rm -f -- *.deb
)

# A program of Debian's that was unpacked, with the libraries that were.
debian() {
    LD_LIBRARY_PATH=$arm_debian/usr/lib/x86_64-linux-gnu "$@"
}

if [[ ! -d $(rustc --print target-libdir --target $arm_target) ]]; then
    if ! command -v apt-get >/dev/null; then
        echo "Rust's standard library for $arm_target is missing: rustup target add $arm_target" >&2
        exit 1
    fi
    # A compiler with a standard library for each of its targets, which rustup's may lack where it cannot be reached.
    if [[ ! -x $arm_debian/rustc ]]; then
        unpack rustc-web 'libstd-rust-web-dev|libstd-rust-web-[0-9.]+|libllvm[0-9]+' libstd-rust-web-dev:arm64
        printf '#!/bin/sh\nLD_LIBRARY_PATH=%q exec %q "$@"\n' \
            "$arm_debian/usr/lib/x86_64-linux-gnu" "$arm_debian/usr/bin/rustc" >"$arm_debian/rustc"
        chmod +x "$arm_debian/rustc"
    fi
    export RUSTC=$arm_debian/rustc
fi
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
# QEMU_CPU says which CPU is emulated.
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
# Apart from the host's own, which another compiler builds.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/arm
