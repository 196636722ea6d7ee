# What builds programs for 64-bit Arm Linux on x86-64 and runs them, for scripts that source this: Rust's standard library for
# that $target, a linker, an emulator. Installs what is missing from Debian's packages, where there are such.

target=aarch64-unknown-linux-gnu
packages=()
command -v qemu-aarch64 >/dev/null || packages+=(qemu-user)
command -v aarch64-linux-gnu-gcc >/dev/null || packages+=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross)
if [[ ${#packages[@]} -gt 0 ]]; then
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
fi

# Unpacks Debian's package of the first name to $debian, and what it depends on as far as the pattern matches, and any others
# that are named. Nothing is installed, and no other version of anything replaced.
debian=${CARGO_TARGET_DIR:-target}/debian
mkdir -p "$debian"
debian=$(cd "$debian" && pwd)
unpack() (
    package=$1 pattern=$2
    shift 2
    mkdir -p "$debian"/apt/{lists/partial,cache/archives/partial}
    export APT_CONFIG=$debian/apt/apt.conf
    cat >"$APT_CONFIG" <<EOF
APT::Architectures { "amd64"; "arm64"; };
Dir::State::Lists "$debian/apt/lists";
Dir::Cache "$debian/apt/cache";
APT::Sandbox::User "root";
Acquire::Retries "3";
EOF
    apt-get update -qq
    needed=$(apt-cache depends --recurse --important "$package" | grep -xE "$pattern")
    cd "$debian/apt"
    # shellcheck disable=SC2086 # words
    apt-get download -qq "$package" $needed "$@"
    for file in *.deb; do dpkg -x "$file" "$debian"; done
    rm -f -- *.deb
)

# A program of Debian's that was unpacked, with the libraries that were.
unpacked() {
    LD_LIBRARY_PATH=$debian/usr/lib/x86_64-linux-gnu "$@"
}

if [[ ! -d $(rustc --print target-libdir --target "$target") ]]; then
    if ! command -v apt-get >/dev/null; then
        echo "Rust's standard library for $target is missing: rustup target add $target" >&2
        exit 1
    fi
    # A compiler with a standard library for each of its targets, which rustup's may lack where it cannot be reached.
    if [[ ! -d $debian/usr/lib/rustlib/$target ]]; then
        unpack rustc-web 'libstd-rust-web-dev|libstd-rust-web-[0-9.]+|libllvm[0-9]+' libstd-rust-web-dev:arm64
        printf '#!/bin/sh\nLD_LIBRARY_PATH=%q exec %q "$@"\n' \
            "$debian/usr/lib/x86_64-linux-gnu" "$debian/usr/bin/rustc" >"$debian/rustc"
        chmod +x "$debian/rustc"
    fi
    export RUSTC=$debian/rustc
fi
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
# QEMU_CPU says which CPU is emulated.
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
# Apart from the host's own, which another compiler builds.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/arm
