#!/usr/bin/env bash
# The S3 server's live page, in a real Chromium, beside a server under load.
#
#   scripts/test-page.sh [--picture]      --picture makes docs/live-page.png anew, which takes a minute more
#
# Needs Rust, Python 3.11, and Chromium or Chrome, which is installed by apt-get where it is missing. Python's packages go
# under the target directory.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}
mkdir -p "$target/page"
target=$(cd "$target" && pwd)
tests=$PWD/crates/manyhash-server/tests/page
environment=$target/page/environment

case "$*" in
    '') ;;
    --picture) export PICTURE=$PWD/docs/live-page.png ;;
    *) echo "usage: $0 [--picture]" >&2; exit 2 ;;
esac

# Debian's packages, where a program is missing.
debian() {
    apt-get update -qq
    apt-get install -qq -y --no-install-recommends "$@" >/dev/null
}

stamp=$(sha256sum <"$tests/requirements.txt")
if [[ ! -e $target/page/installed || $(<"$target/page/installed") != "$stamp" ]]; then
    python=${PYTHON:-python3}
    if ! "$python" -m venv --clear "$environment" 2>/dev/null; then
        debian python3-venv
        "$python" -m venv --clear "$environment"
    fi
    "$environment/bin/pip" install --quiet --disable-pip-version-check -r "$tests/requirements.txt"
    echo "$stamp" >"$target/page/installed"
fi
if ! CHROMIUM=$(command -v chromium || command -v google-chrome); then
    debian chromium
    CHROMIUM=$(command -v chromium)
fi

cargo build --quiet -p manyhash-cli
# Nothing of the surroundings may lead the clients elsewhere.
for name in "${!AWS_@}" "${!MANYHASH_@}" {http,https,all}_proxy {HTTP,HTTPS,ALL}_PROXY; do unset "$name"; done

export CHROMIUM MANYHASH=$target/debug/manyhash PYTHONDONTWRITEBYTECODE=1
trap 'rm -rf "$target/page/served"' EXIT
"$environment/bin/python" -m pytest -q -p no:cacheprovider --basetemp "$target/page/served" "$tests"
