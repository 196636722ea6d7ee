# What builds programs for 64-bit Arm Linux on x86-64 and runs them, for scripts that source this: Rust's standard library for
# that $target. Brings what is missing from Debian's packages, where there are such.

target=aarch64-unknown-linux-gnu
# Installs Debian's packages that bring programs: `wanted PROGRAM PACKAGE...`, where the program is missing.
wanted() {
    command -v "$1" >/dev/null && return
    if ! command -v apt-get >/dev/null || [[ $(id -u) != 0 ]]; then
        echo "$0: $1 is missing; install it, or run this as root on Debian, which has it in ${*:2}" >&2
        exit 1
    fi
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "${@:2}" >/dev/null
}

# Unpacks Debian's package of the first name to $debian, and what it depends on as far as the pattern matches, and any others
# that are named. Nothing is installed, and no other version of anything replaced.
debian=${CARGO_TARGET_DIR:-target}/debian
mkdir -p "$debian"
debian=$(cd "$debian" && pwd)
unpack() (
    package=$1 pattern=$2
    shift 2
    if ! command -v apt-get >/dev/null; then
        echo "$0: $package is missing, and only Debian's packages are known to have it" >&2
        exit 1
    fi
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
    needed=$(apt-cache depends --recurse --important "$package" | grep -xE "$pattern") || {
        echo "$0: Debian's $package depends on nothing like $pattern" >&2
        exit 1
    }
    cd "$debian/apt"
    rm -f -- *.deb
    # shellcheck disable=SC2086 # words
    apt-get download -qq "$package" $needed "$@"
    for file in *.deb; do dpkg -x "$file" "$debian"; done
    rm -f -- *.deb
    # Only now is it whole.
    touch "$package.done"
)

# A program of Debian's that was unpacked, with the libraries that were.
unpacked() {
    LD_LIBRARY_PATH=$debian/usr/lib/x86_64-linux-gnu "$@"
}

libraries=$("${RUSTC:-rustc}" --print target-libdir --target "$target")
if [[ ! -d $libraries ]]; then
    if ! command -v apt-get >/dev/null; then
        echo "Rust's standard library for $target is missing: rustup target add $target" >&2
        exit 1
    fi
    # A compiler with a standard library for each of its targets, which rustup's may lack where it cannot be reached.
    if [[ ! -e $debian/apt/rustc-web.done ]]; then
        unpack rustc-web 'libstd-rust-web-dev|libstd-rust-web-[0-9.]+|libllvm[0-9]+' libstd-rust-web-dev:arm64
    fi
    printf '#!/bin/sh\nLD_LIBRARY_PATH=%q exec %q "$@"\n' \
        "$debian/usr/lib/x86_64-linux-gnu" "$debian/usr/bin/rustc" >"$debian/rustc"
    chmod +x "$debian/rustc"
    export RUSTC=$debian/rustc
fi
# Apart from the host's own, which another compiler builds.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/arm
