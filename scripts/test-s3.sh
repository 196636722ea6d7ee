#!/usr/bin/env bash
# The S3 server from outside: real clients, plain and over TLS; those of versitygw's own tests that apply; clients that stop,
# lie, race and dawdle; kills under load; and all of that at once, with faults of the disk and power failures. Clients are
# installed from registries, under the target directory.
#
#   scripts/test-s3.sh [clients|suite|hostile|kills|soak]...     all of them, if none is named
#
# MANYHASH_SLOW=SECONDS kills the server 1,000 times, and soaks it for so long: 1800 is the half hour that counts.
# MANYHASH_SEED repeats a soak. Needs Rust, and for all but the soak Go 1.26, Python 3.11, OpenSSL's program, and rclone, which
# is installed by apt-get where it is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/s3/installed.sh
wanted=" ${*:-clients suite hostile kills soak} "
failed=0

is_wanted() {
    [[ $wanted == *" $1 "* ]]
}

# Says how it went, and ends.
finish() {
    if [[ $failed != 0 ]]; then
        echo "Tests of the S3 server failed."
        exit 1
    fi
    echo "All tests of the S3 server passed."
    exit
}

if is_wanted soak; then
    echo "== soak"
    source scripts/tested.sh
    cargo test --quiet "${tested[@]}" --test it --no-run
    # A server whose disk fails has much to say.
    errors=$(mktemp)
    if ! cargo test --quiet "${tested[@]}" --test it soak:: -- --nocapture 2>"$errors"; then
        echo "FAILED  the soak:"
        grep -A20 -e '^soak: ' -e '^error' -e 'panicked at' "$errors" | head -n 200 || true
        failed=1
    fi
    rm "$errors"
    wanted=${wanted// soak / }
    if [[ -z ${wanted// /} ]]; then
        finish
    fi
fi

forget_surroundings
install_clients

cargo build --quiet -p manyhash-cli
manyhash=$target/debug/manyhash

work=$(mktemp -d)
server=
trap 'if [[ -n $server ]]; then kill -KILL "$server" 2>/dev/null || true; fi; rm -rf "$work"' EXIT
access=TESTS3 secret=no-secret-of-anyone region=us-east-1
printf '[[key]]\naccess = "%s"\nsecret = "%s"\n' "$access" "$secret" >"$work/keys.toml"

# Starts a server on a directory of its own. Options follow.
start() {
    rm -rf "$work/store" "$work/out"
    "$manyhash" serve "$work/store" --listen 127.0.0.1:0 --admin none --keys "$work/keys.toml" --region "$region" "$@" \
        >"$work/out" 2>"$work/err" &
    server=$!
    endpoint=
    for _ in {1..100}; do
        if endpoint=$(grep -Eosm1 'https?://127\.0\.0\.1:[0-9]+' "$work/out"); then
            return
        fi
        if ! kill -0 "$server" 2>/dev/null; then
            break
        fi
        sleep 0.1
    done
    echo "FAILED  the server did not start:"
    cat "$work/out" "$work/err"
    exit 1
}

# Ends it as an administrator would. Its status must be 0, and the store must be as it should.
stop() {
    local status=0
    kill -TERM "$server"
    wait "$server" || status=$?
    server=
    if [[ $status != 0 || -s $work/err ]]; then
        echo "FAILED  the server, exit status $status:"
        head -c 4000 "$work/err"
        failed=1
    fi
    if ! "$manyhash" store check "$work/store" >"$work/check" 2>&1; then
        echo "FAILED  store check:"
        cat "$work/check"
        failed=1
    fi
}

# Runs something against the server.
run() {
    "$@" || failed=1
}

# Its certificate is trusted by name, so that clients verify it as they would any other.
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 \
    -keyout "$work/key.pem" -out "$work/certificate.pem" 2>/dev/null
tls=(--tls "$work/certificate.pem" --tls-key "$work/key.pem")
ulimit -n "$(ulimit -Hn)"

if is_wanted suite; then
    echo "== versitygw's own tests"
    names() { sed -e 's/ *#.*//' -e '/^$/d' "$@"; }
    # Each of its tests is in one of both lists.
    if ! diff <("$tools/bin/suite" list) <(names "$mine"/versitygw-{applies,excluded}.txt | LC_ALL=C sort); then
        echo "FAILED  the lists in $mine are not those of this version"
        failed=1
    fi
    start
    run "$tools/bin/suite" "$endpoint" "$access" "$secret" "$region" 8 < <(names "$mine/versitygw-applies.txt")
    stop
fi
if is_wanted clients; then
    echo "== clients"
    start
    run "$python" "$mine/clients.py" "$endpoint" "$access" "$secret" --tools "$tools"
    stop
    echo "== clients, TLS"
    start "${tls[@]}"
    run "$python" "$mine/clients.py" "$endpoint" "$access" "$secret" --tools "$tools" --certificate "$work/certificate.pem"
    stop
fi
if is_wanted hostile; then
    echo "== hostile clients"
    start
    run "$python" "$mine/hostile.py" "$endpoint" "$access" "$secret"
    stop
    echo "== hostile clients, TLS"
    start "${tls[@]}"
    run "$python" "$mine/hostile.py" "$endpoint" "$access" "$secret" --places 12
    stop
fi
if is_wanted kills; then
    echo "== kills"
    rounds=25
    if [[ -n ${MANYHASH_SLOW:-} ]]; then
        rounds=1000
    fi
    run "$python" "$mine/kills.py" "$manyhash" "$work/kills" --rounds "$rounds"
fi

finish
