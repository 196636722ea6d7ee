#!/usr/bin/env python3
"""What `manyhash s3` takes beside its peers, as whole programs in turns, against `manyhash serve`: medians, and the goals.

    speed.py PROGRAMS DIRECTORY --tools DIR [--rounds N] [--quick]

PROGRAMS is the directory with `manyhash` and `manysum`. Every program must have done right before anything is timed. DIRECTORY
is best on a tmpfs with 5 GB free, so that no disk is measured.
"""

import argparse
import hashlib
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from commands import Program, programs
from pairs import s3
from servers import Manyhash
from signing import Keys, Server
from tool import Tool

KEYS = Keys("SPEEDS3", "no-secret-of-anyone")


@dataclass
class Subject:
    """A program, or several one after another, and what each round took."""

    name: str
    run: Callable[[], float]
    seconds: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def sample(self) -> None:
        started = time.monotonic()
        cpu = self.run()
        self.seconds.append(time.monotonic() - started)
        self.cpu.append(cpu)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def median_cpu(self) -> float:
        return statistics.median(self.cpu)


def call(command: list, environment: dict[str, str], home: Path, output=subprocess.DEVNULL) -> float:
    """Runs a program, which must succeed, and returns the CPU time that it and its children took."""
    with open(home / "errors", "w+b") as errors:
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "NO_PROXY": "*", **environment}
        process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            errors.seek(0)
            said = errors.read().decode(errors="replace")[-3000:]
            raise SystemExit(f"{' '.join(map(str, command))}: exit status {process.returncode}\n{said}")
    return usage.ru_utime + usage.ru_stime


def measure(subjects: list[Subject], rounds: int) -> None:
    """Every round runs each subject once, and begins with another one."""
    for number in range(rounds):
        for at in range(len(subjects)):
            subjects[(number + at) % len(subjects)].sample()


def table(title: str, subjects: list[Subject], rounds: int) -> None:
    own = subjects[0]
    print(f"\n{title}, median of {rounds} rounds\n{'subject':<28}{'seconds':>10}{'CPU s':>10}{'time x':>10}{'CPU x':>10}")
    for subject in subjects:
        ratios = subject.median / own.median, subject.median_cpu / max(own.median_cpu, 1e-9)
        print(f"{subject.name:<28}{subject.median:>10.3f}{subject.median_cpu:>10.3f}{ratios[0]:>10.2f}{ratios[1]:>10.2f}")


def goal(what: str, least: float, reached: float) -> None:
    print(f"{what:<68}{f'>= {least:.2f} x':>14}{f'{reached:.2f} x':>12}{'' if reached >= least else '  missed'}")


class Stage:
    """The programs, and where they run."""

    def __init__(self, arguments: argparse.Namespace, server: Server):
        self.manyhash, self.manysum = (arguments.programs.absolute() / name for name in ("manyhash", "manysum"))
        self.home, self.server = arguments.directory.absolute(), server
        self.rounds = arguments.rounds or (1 if arguments.quick else 7)
        self.quick = arguments.quick
        self.tool = Tool(self.manyhash, server)
        self.peers = {peer.name: peer for peer in programs(arguments.tools.absolute(), server.endpoint, KEYS, None, self.home)}
        self.s3 = s3(server)

    def ours(self, *command: str | Path, output=subprocess.DEVNULL) -> float:
        return call([self.manyhash, *command], self.tool.environment, self.home, output)

    def peer(self, name: str, *arguments: str | Path) -> float:
        peer: Program = self.peers[name]
        return call([*peer.start, *arguments], peer.environment, self.home)

    def tree(self, name: str, count: int, size: int) -> dict[str, bytes]:
        """Makes a tree of files of one size, and returns their MD5s by name."""
        chance, digests = random.Random(size), {}
        for number in range(count):
            path = f"{number // 100:03}/{number % 100:02}"
            body = chance.randbytes(size)
            file = self.home / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(body)
            digests[path] = hashlib.md5(body).digest()
        return digests

    def same(self, tree: Path, url: str, count: int) -> None:
        found = self.tool.verify(tree, url)
        if found.status != 0 or len(found.names) != count:
            raise SystemExit(f"{url} is not {tree}: {found.said}")


def verify(stage: Stage) -> None:
    """Objects of 64 KiB that are the same as files."""
    count, bucket, tree = 500 if stage.quick else 10_000, "verify", stage.home / "small"
    digests = stage.tree("small", count, 64 << 10)
    stage.s3.create_bucket(Bucket=bucket)
    stage.peer("s5cmd", "cp", f"{tree}/", f"s3://{bucket}/")
    url, listed = f"s3://{bucket}", stage.home / "listed"

    def hashed(output=subprocess.DEVNULL) -> float:
        return call([stage.manysum, "-a", "md5", "-r", tree], {}, stage.home, output)

    def alone() -> float:
        return stage.ours("s3", "ls", url) + hashed()

    subjects = [
        Subject("manyhash s3 verify", lambda: stage.ours("s3", "verify", "--no-cache", tree, url)),
        Subject("manyhash s3 ls, manysum", alone),
        Subject("rclone check --download", lambda: stage.peer("rclone", "check", "--download", tree, f"r:{bucket}")),
        Subject("rclone check", lambda: stage.peer("rclone", "check", tree, f"r:{bucket}")),
    ]
    # All that they say must be right before it is timed, and what is wrong must be found.
    stage.same(tree, url, count)
    with open(listed, "wb") as output:
        hashed(output)
    found = dict(reversed(line.split("  ")) for line in listed.read_text().splitlines())
    due = {f"{tree}/{name}": digest.hex() for name, digest in digests.items()}
    with open(listed, "wb") as output:
        stage.ours("s3", "ls", url, output=output)
    etags = {line.split()[2]: line.split()[1] for line in listed.read_text().splitlines()}
    if found != due or etags != {name: digest.hex() for name, digest in digests.items()}:
        raise SystemExit("a digest or an ETag is wrong")
    file = tree / "003/33"
    body = file.read_bytes()
    file.write_bytes(body[:-1] + bytes([body[-1] ^ 1]))
    if stage.tool.verify(tree, url).states["003/33"] != "differs":
        raise SystemExit("a difference was not found")
    file.write_bytes(body)
    for subject in subjects:
        subject.run()
    measure(subjects, stage.rounds)
    table(f"verify: {count:,} objects of 64 KiB", subjects, stage.rounds)
    own, other, download, _ = (subject.median for subject in subjects)
    goal("verify: rate of LIST and local hashing alone", 0.9, other / own)
    goal("verify: rate of rclone check --download", 5, download / own)


def upload(stage: Stage) -> None:
    """Files of 16 MiB, each with CRC64NVME and MD5."""
    count, bucket, tree = 4 if stage.quick else 64, "upload", stage.home / "large"
    stage.tree("large", count, 16 << 20)
    stage.s3.create_bucket(Bucket=bucket)
    # What each sends: ours MD5 as ETags and CRC64NVME, s5cmd MD5 and SHA-256, aws-cli CRC64NVME.
    how = "--only-show-errors --checksum-algorithm CRC64NVME --recursive".split()
    commands = {
        "manyhash s3 upload": lambda url: stage.ours("s3", "upload", "--checksum", "CRC64NVME", tree, url),
        "s5cmd cp": lambda url: stage.peer("s5cmd", "cp", f"{tree}/", url),
        "aws s3 cp": lambda url: stage.peer("aws-cli", "s3", "cp", *how, tree, url),
    }

    def into(number: int, command: Callable[[str], float]) -> Callable[[], float]:
        return lambda: command(f"s3://{bucket}/{number}/")

    subjects = [Subject(name, into(number, command)) for number, (name, command) in enumerate(commands.items())]
    for number, subject in enumerate(subjects):
        subject.run()
        stage.same(tree, f"s3://{bucket}/{number}", count)
    measure(subjects, stage.rounds)
    table(f"upload: {count} files of 16 MiB", subjects, stage.rounds)
    for peer in subjects[1:]:
        goal(f"upload: rate of {peer.name}", 1, peer.median / subjects[0].median)
        goal(f"upload: CPU time of {peer.name} to ours", 2, peer.median_cpu / max(subjects[0].median_cpu, 1e-9))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=Path)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--tools", type=Path, required=True, help="where the peers are installed")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--quick", action="store_true", help="one round of little")
    arguments = parser.parse_args()
    # What is sent again is written again.
    options = ["--no-dedupe"]
    with Manyhash(arguments.programs.absolute() / "manyhash", arguments.directory / "server", *options, keys=KEYS) as process:
        stage = Stage(arguments, process.server)
        verify(stage)
        upload(stage)


if __name__ == "__main__":
    sys.exit(main())
