# What scripts with S3's clients and servers share, for them to source from the root of the checkout: where the target
# directory is, and what installs peers below it, from registries.

target=${CARGO_TARGET_DIR:-$PWD/target}
mkdir -p "$target/s3/bin"
target=$(cd "$target" && pwd)
tools=$target/s3
mine=scripts/s3

# Nothing of the surroundings may lead clients elsewhere or change what they trust.
forget_surroundings() {
    local name
    for name in "${!AWS_@}" REQUESTS_CA_BUNDLE {http,https,all}_proxy {HTTP,HTTPS,ALL}_PROXY; do unset "$name"; done
    export no_proxy=127.0.0.1 NO_PROXY=127.0.0.1
}

# Clients, once for each list of them, and Python with some as `python`. Needs Go 1.26 and Python 3.11.
install_clients() {
    local stamp of_python=${PYTHON:-python3}
    stamp=$(cat "$mine"/requirements.txt "$mine"/go/go.* "$mine"/go/*/*.go "$mine"/s5cmd/go.* | sha256sum)
    if [[ ! -e $tools/installed || $(<"$tools/installed") != "$stamp" ]]; then
        echo "== clients are installed"
        if ! "$of_python" -m venv --clear "$tools/environment" 2>/dev/null; then
            apt-get update -qq
            apt-get install -qq -y --no-install-recommends python3-venv >/dev/null
            "$of_python" -m venv --clear "$tools/environment"
        fi
        "$tools/environment/bin/pip" install --quiet --disable-pip-version-check -r "$mine/requirements.txt"
        (cd "$mine/go" && go vet ./... && go build -o "$tools/bin/" ./suite ./clients)
        (cd "$mine/s5cmd" && go build -o "$tools/bin/" tool)
        echo "$stamp" >"$tools/installed"
    fi
    if ! command -v rclone >/dev/null || ! command -v openssl >/dev/null; then
        apt-get update -qq
        apt-get install -qq -y --no-install-recommends rclone openssl >/dev/null
    fi
    python=$tools/environment/bin/python
    export PYTHONDONTWRITEBYTECODE=1
}

# Servers, where they are missing. Needs Go.
install_servers() {
    [[ -x $tools/bin/versitygw ]] || GOBIN=$tools/bin go install github.com/versity/versitygw/cmd/versitygw@v1.8.0
    [[ -x $tools/bin/minio ]] || GOBIN=$tools/bin go install github.com/minio/minio@latest
}
