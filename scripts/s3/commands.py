"""Clients that are programs: aws-cli, s3cmd, s5cmd, rclone."""

import os
import subprocess
import urllib.parse
from dataclasses import dataclass, field
from pathlib import Path

from corrupt import CHANGED, MARKER
from report import Failed, Report, expect
from signing import Keys, Request, Server, Session

# Above the size from which each client, as it is called here, sends parts.
LONG = 20_000_000


@dataclass
class Program:
    """How a client is called. `{...}` in its arguments is replaced: {b} by the bucket, {k} and {to} by keys, {f} by a file."""

    name: str
    start: list[str]
    environment: dict[str, str]
    make: list[str]
    put: list[str]
    get: list[str]
    listing: list[str]
    copy: list[str]
    delete: list[str]
    remove: list[str]
    # PUTs with a checksum of other content, and the error that the client then shows.
    wrong: list[tuple[str, list[str]]] = field(default_factory=list)
    # What it says to a wrong key.
    stranger: str = "SignatureDoesNotMatch"


def programs(tools: Path, endpoint: str, keys: Keys, certificate: str | None, home: Path) -> list[Program]:
    """All programs, set up for one endpoint."""
    host = urllib.parse.urlsplit(endpoint).netloc
    aws = {
        "AWS_ACCESS_KEY_ID": keys.access,
        "AWS_SECRET_ACCESS_KEY": keys.secret,
        "AWS_REGION": keys.region,
        "AWS_DEFAULT_REGION": keys.region,
        "AWS_MAX_ATTEMPTS": "1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }
    trusted = {"AWS_CA_BUNDLE": certificate} if certificate else {}
    put_object = "s3api put-object --bucket {b} --key {k} --body {f}".split()
    nothing = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    awscli = Program(
        "aws-cli",
        [str(tools / "environment/bin/aws"), "--endpoint-url", endpoint],
        aws | trusted,
        make="s3 mb s3://{b}".split(),
        put="s3 cp --only-show-errors {f} s3://{b}/{k}".split(),
        get="s3 cp --only-show-errors s3://{b}/{k} {f}".split(),
        listing="s3 ls --recursive s3://{b}/".split(),
        copy="s3 cp --only-show-errors s3://{b}/{k} s3://{b}/{to}".split(),
        delete="s3 rm --only-show-errors s3://{b}/{k}".split(),
        remove="s3 rb s3://{b}".split(),
        wrong=[
            ("BadDigest", [*put_object, "--checksum-sha256", nothing]),
            ("BadDigest", [*put_object, "--content-md5", "1B2M2Y8AsgTpgAmY7PhCfg=="]),
        ],
    )
    configured = home / f"s3cmd-{urllib.parse.urlsplit(endpoint).port}"
    lines = {
        "access_key": keys.access,
        "secret_key": keys.secret,
        "bucket_location": keys.region,
        "host_base": host,
        "host_bucket": host,
        "use_https": bool(certificate),
        "ca_certs_file": certificate or "",
        "max_retries": 1,
        "multipart_chunk_size_mb": 5,
        "progress_meter": False,
    }
    configured.write_text("[default]\n" + "".join(f"{name} = {value}\n" for name, value in lines.items()))
    s3cmd = Program(
        "s3cmd",
        [str(tools / "environment/bin/s3cmd"), "-c", str(configured)],
        {},
        make="mb s3://{b}".split(),
        put="put {f} s3://{b}/{k}".split(),
        get="get --force s3://{b}/{k} {f}".split(),
        listing="ls --recursive s3://{b}/".split(),
        copy="cp s3://{b}/{k} s3://{b}/{to}".split(),
        delete="del s3://{b}/{k}".split(),
        remove="rb s3://{b}".split(),
        wrong=[("BadDigest", "put --add-header x-amz-checksum-crc32:AAAAAA== {f} s3://{b}/{k}".split())],
    )
    s5cmd = Program(
        "s5cmd",
        [str(tools / "bin/s5cmd"), "--endpoint-url", endpoint, "--retry-count", "0"],
        aws | trusted,
        make="mb s3://{b}".split(),
        put="cp --part-size 5 {f} s3://{b}/{k}".split(),
        get="cp s3://{b}/{k} {f}".split(),
        listing="ls s3://{b}/*".split(),
        copy="cp s3://{b}/{k} s3://{b}/{to}".split(),
        delete="rm s3://{b}/{k}".split(),
        remove="rb s3://{b}".split(),
    )
    remote = {
        "TYPE": "s3",
        "PROVIDER": "Other",
        "ENDPOINT": endpoint,
        "ACCESS_KEY_ID": keys.access,
        "SECRET_ACCESS_KEY": keys.secret,
        "REGION": keys.region,
        "UPLOAD_CUTOFF": "5Mi",
        "CHUNK_SIZE": "5Mi",
    }
    rclone = Program(
        "rclone",
        "rclone --retries 1 --low-level-retries 1 --config".split() + ["", *(["--ca-cert", certificate] if certificate else [])],
        {f"RCLONE_CONFIG_R_{name}": value for name, value in remote.items()},
        make="mkdir r:{b}".split(),
        put="copyto {f} r:{b}/{k}".split(),
        get="copyto r:{b}/{k} {f}".split(),
        listing="lsf --recursive r:{b}".split(),
        copy="copyto r:{b}/{k} r:{b}/{to}".split(),
        delete="deletefile r:{b}/{k}".split(),
        remove="rmdir r:{b}".split(),
        # It asks by HEAD whether the key exists, and that has no body to say more.
        stranger="Forbidden",
    )
    return [awscli, s3cmd, s5cmd, rclone]


class Run:
    """One program against one endpoint."""

    def __init__(self, program: Program, server: Server, home: Path):
        self.program, self.server, self.home = program, server, home
        self.bucket = "programs-" + program.name
        self.report = Report(f"{program.name}, {server.endpoint.partition(':')[0]}")

    def call(self, arguments: list[str], *, keys: Keys | None = None, **names: str) -> tuple[int, str]:
        """Calls it, and returns its exit status and all that it printed."""
        names = {"b": self.bucket, **names}
        filled = [argument.format(**names) for argument in self.program.start + arguments]
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "NO_PROXY": "*", **self.program.environment}
        if keys:
            # Wherever the program has it from.
            old, new = self.server.keys.secret, keys.secret
            environment = {name: new if value == old else value for name, value in environment.items()}
            if "-c" in filled:
                path = Path(filled[filled.index("-c") + 1])
                other = path.with_name(path.name + "-other")
                other.write_text(path.read_text().replace(f"secret_key = {old}\n", f"secret_key = {new}\n"))
                filled[filled.index("-c") + 1] = str(other)
        done = subprocess.run(
            filled, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120
        )
        return done.returncode, done.stdout.decode(errors="replace")

    def succeed(self, arguments: list[str], **names: str) -> str:
        status, output = self.call(arguments, **names)
        if status != 0:
            raise Failed(f"exit status {status}\n{output}")
        return output

    def refused(self, key: str, expected: str, arguments: list[str], **names) -> None:
        """It must fail, say why, and leave nothing."""
        status, output = self.call(arguments, k=key, **names)
        if status == 0 or expected not in output:
            raise Failed(f"exit status {status}, no {expected}\n{output}")
        self.absent(key)

    def absent(self, key: str) -> None:
        session = Session(self.server)
        answer = session.send(Request("HEAD", f"/{self.bucket}/{key}"))
        session.close()
        expect(answer.status == 404, f"{key} exists: {answer}")

    def run(self, corrupted: Program | None) -> Report:
        program, case = self.program, self.report.case
        sent, got = self.home / "sent", self.home / "got"
        bodies = {"short": os.urandom(100_000), "long": os.urandom(LONG), "empty": b""}

        def round_trip(key: str) -> None:
            sent.write_bytes(bodies[key])
            self.succeed(program.put, f=str(sent), k=key)
            compare(key, bodies[key])

        def compare(key: str, body: bytes) -> None:
            got.unlink(missing_ok=True)
            self.succeed(program.get, f=str(got), k=key)
            expect(got.read_bytes() == body, f"GET {key} gives other bytes")

        def copy() -> None:
            for key in ("short", "long"):
                self.succeed(program.copy, k=key, to="copy-" + key)
                compare("copy-" + key, bodies[key])

        def listing() -> None:
            found = {line.split()[-1].removeprefix(f"s3://{self.bucket}/") for line in self.succeed(program.listing).splitlines()}
            expect(found == {"short", "long", "empty", "copy-short", "copy-long"}, f"listed {found}")

        def wrong_key() -> None:
            sent.write_bytes(bodies["short"])
            other = Keys(self.server.keys.access, self.server.keys.secret + "x")
            self.refused("wrong", program.stranger, program.put, f=str(sent), keys=other)

        def wrong_checksum() -> None:
            sent.write_bytes(bodies["short"])
            for expected, arguments in program.wrong:
                self.refused("wrong", expected, arguments, f=str(sent))

        def changed() -> None:
            """Short, and in parts."""
            through = Run(corrupted, self.server, self.home)
            for filler in (1000, 6_000_000):
                sent.write_bytes(os.urandom(filler) + (MARKER + b"\n") * 50 + os.urandom(filler))
                status, output = through.call(corrupted.put, f=str(sent), k="changed")
                if status == 0:
                    # A client may try again; what is there must be what it has.
                    got.unlink(missing_ok=True)
                    self.succeed(program.get, f=str(got), k="changed")
                    expect(CHANGED not in got.read_bytes(), "what was changed on the way was acknowledged")
                    raise Failed(f"acknowledged\n{output}")
                self.absent("changed")

        def delete() -> None:
            for key in ("short", "long", "empty", "copy-short", "copy-long"):
                self.succeed(program.delete, k=key)
                self.absent(key)

        case("create bucket", lambda: self.succeed(program.make))
        case("PUT and GET", lambda: round_trip("short"))
        case("multipart PUT and GET", lambda: round_trip("long"))
        case("PUT and GET, empty", lambda: round_trip("empty"))
        case("copy", copy)
        case("list", listing)
        case("wrong key", wrong_key)
        if program.wrong:
            case("wrong checksum", wrong_checksum)
        if corrupted:
            case("changed on the way", changed)
        case("delete", delete)
        case("delete bucket", lambda: self.succeed(program.remove))
        return self.report
