#!/usr/bin/env python3
"""Which differences between a tree and a bucket tools find that do not download: a table.

    differences.py MANYHASH DIRECTORY --tools DIR

Each tool is asked what it would do to make the bucket as the tree is. Fails if manyhash misses a difference, or sees one that
is none.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from commands import Program, programs
from pairs import s3
from report import HERE, Failed
from seeded import changed
from servers import Manyhash
from signing import Keys, Server
from tool import Tool

KEYS = Keys("TESTS3", "no-secret-of-anyone")
# In one part, and in several for every client.
SIZES = {"single": 1_000_000, "parts": 20_000_000}
UPLOADED, OLDER = 1_600_000_000, 1_500_000_000
# Cells of the table.
FOUND, MISSED, ALARM, RIGHT, UNVERIFIED = "found", "-", "ALARM", "same", "unverified"


@dataclass(frozen=True)
class Peer:
    """A tool: how it is asked what differs, how it uploads a tree, and what it says of a name that differs."""

    program: Program
    title: str
    ask: list[str]
    upload: list[str]
    says: str = r"^.*[/']{}(?:['\s].*)?$"

    def call(self, arguments: list[str], tree: Path, bucket: str, home: Path) -> tuple[int, str]:
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "NO_PROXY": "*", **self.program.environment}
        filled = [argument.format(b=bucket, t=tree) for argument in self.program.start + arguments]
        done = subprocess.run(filled, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode < 0 or (arguments == self.upload and done.returncode != 0):
            raise SystemExit(f"{' '.join(filled)}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.returncode, done.stdout + done.stderr

    def finds(self, output: str, name: str) -> bool:
        return re.search(self.says.format(re.escape(name)), output, re.MULTILINE) is not None


def peers(tools: Path, endpoint: str, home: Path) -> list[Peer]:
    named = {program.name: program for program in programs(tools, endpoint, KEYS, None, home)}
    return [
        Peer(
            named["rclone"],
            "rclone check",
            "check {t} r:{b} --combined -".split(),
            "sync {t} r:{b}".split(),
            says=r"^[-+*!] {}$",
        ),
        Peer(
            named["aws-cli"],
            "aws s3 sync",
            "s3 sync --dryrun --delete {t} s3://{b}".split(),
            "s3 sync --only-show-errors {t} s3://{b}".split(),
        ),
        Peer(
            named["s3cmd"],
            "s3cmd sync",
            "sync --dry-run --delete-removed {t}/ s3://{b}/".split(),
            "sync {t}/ s3://{b}/".split(),
        ),
        Peer(
            named["s5cmd"],
            "s5cmd sync",
            "--dry-run sync --delete {t}/ s3://{b}/".split(),
            "sync --part-size 5 {t}/ s3://{b}/".split(),
        ),
    ]


class Seeds:
    """A tree and a bucket, and what differs between them."""

    def __init__(self, server: Server, root: Path, bucket: str):
        self.tree, self.bucket = root / "tree", bucket
        self.s3 = s3(server)
        self.s3.create_bucket(Bucket=bucket)
        # Names, under what is done to them.
        self.rows: dict[tuple[str, str], list[str]] = {}

    def write(self, name: str, body: bytes, moment: float) -> None:
        path = self.tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
        os.utime(path, (moment, moment))

    def change(self, name: str, change: Callable[[bytes], bytes], moment: float = UPLOADED) -> None:
        self.write(name, change((self.tree / name).read_bytes()), moment)

    def names(self, what: str, count: int = 1) -> dict[str, list[str]]:
        """Files of all sizes for a row, which are uploaded."""
        made = {}
        for form, size in SIZES.items():
            names = [f"{re.sub('[^a-z]+', '-', what)}-{number}/{form}" for number in range(count)]
            for name in names:
                self.write(name, os.urandom(size), UPLOADED)
            self.rows[what, form] = made[form] = names
        return made

    def seed(self, upload: Callable[[], None]) -> None:
        """Makes all differences, once everything was uploaded."""
        flip = lambda body: changed(body, 12_345)  # noqa: E731
        # What is done to the file, and its time; what is done to files by name, and to objects.
        to_files = {
            "one byte changed, its time kept": (flip, UPLOADED),
            "one byte changed, older": (flip, OLDER),
            "one byte changed, newer": (flip, None),
            "a zero appended, its time kept": (lambda body: body + b"\0", UPLOADED),
            "cut off by a byte, its time kept": (lambda body: body[:-1], UPLOADED),
            "nothing but its time, newer": (bytes, None),
        }
        made = {what: self.names(what) for what in to_files}
        swapped = self.names("two files exchanged, times kept", 2)
        replaced = self.names("object replaced by another of its size")
        deleted, gone = self.names("object deleted"), self.names("file deleted")
        upload()
        # A file that is changed now is newer than its object.
        time.sleep(1.5)
        for what, (change, moment) in to_files.items():
            for (name,) in made[what].values():
                self.change(name, change, time.time() if moment is None else moment)
        for one, other in swapped.values():
            bodies = [(self.tree / name).read_bytes() for name in (one, other)]
            self.write(one, bodies[1], UPLOADED)
            self.write(other, bodies[0], UPLOADED)
        for form, (name,) in replaced.items():
            self.replace(name, os.urandom(SIZES[form]))
        for (name,) in deleted.values():
            self.s3.delete_object(Bucket=self.bucket, Key=name)
        for (name,) in gone.values():
            (self.tree / name).unlink()

    def replace(self, name: str, body: bytes) -> None:
        """As large an object in as many parts."""
        path = self.tree.parent / "replacement"
        path.write_bytes(body)
        self.s3.upload_file(str(path), self.bucket, name)
        path.unlink()

    def cell(self, row: tuple[str, str], finds: Callable[[str], bool]) -> str:
        found = [finds(name) for name in self.rows[row]]
        if row[0].startswith("nothing"):
            return ALARM if any(found) else RIGHT
        return FOUND if all(found) else MISSED


def ours(tool: Tool, seeds: Seeds) -> tuple[int, dict[tuple[str, str], str]]:
    """The exit status and the column of manyhash. Files that are the same are looked at too."""
    found = tool.verify(seeds.tree, f"s3://{seeds.bucket}")
    cells = {row: seeds.cell(row, lambda name: found.states.get(name, "same") != "same") for row in seeds.rows}
    for row, names in seeds.rows.items():
        if any(found.states.get(name) == "unverified" for name in names):
            cells[row] = UNVERIFIED
    return found.status, cells


def table(seeds: Seeds, columns: dict[str, tuple[int, dict[tuple[str, str], str]]]) -> str:
    width = max(len(what) for what, _ in seeds.rows) + 2
    head = f"{'difference':{width}}{'object':8}" + "".join(f"{title:>14}" for title in columns)
    lines = [head]
    for what, form in sorted(seeds.rows, key=lambda row: [*SIZES].index(row[1])):
        lines.append(f"{what:{width}}{form:8}" + "".join(f"{cells[what, form]:>14}" for _, cells in columns.values()))
    lines.append(f"{'exit status':{width + 8}}" + "".join(f"{status:>14}" for status, _ in columns.values()))
    return "\n".join(lines) + "\n"


def version(peer: Peer, home: Path) -> str:
    if peer.program.name == "s5cmd":
        # Built from source it does not know its own.
        return re.search(r"s5cmd/v2 v([\d.]+)", (HERE / "s5cmd/go.mod").read_text())[1]
    _, output = peer.call(["version" if peer.program.name == "rclone" else "--version"], Path(), "", home)
    return re.search(r"\d+\.\d+\.\d+", output)[0]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--tools", type=Path, required=True, help="where the clients are installed")
    arguments = parser.parse_args()
    directory, right = arguments.directory, True
    with Manyhash(arguments.program.absolute(), directory / "server", keys=KEYS) as process:
        tool = Tool(arguments.program.absolute(), process.server)
        asked = peers(arguments.tools.absolute(), process.server.endpoint, directory)
        versions = ", ".join(f"{peer.program.name} {version(peer, directory)}" for peer in asked)
        print("Differences between a tree and a bucket, by the tools that find them without downloading")
        print(f"{versions}; objects of {' and '.join(f'{size:,}' for size in SIZES.values())} bytes\n")

        seeds = Seeds(process.server, directory / "aws", "aws")
        aws = asked[1]
        seeds.seed(lambda: aws.call(aws.upload, seeds.tree, seeds.bucket, directory))
        columns = {}
        for peer in asked:
            status, output = peer.call(peer.ask, seeds.tree, seeds.bucket, directory)
            finds = lambda name, p=peer, o=output: p.finds(o, name)  # noqa: E731
            columns[peer.title] = status, {row: seeds.cell(row, finds) for row in seeds.rows}
        columns["manyhash"] = ours(tool, seeds)
        right &= set(columns["manyhash"][1].values()) == {FOUND, RIGHT}
        print(f"uploaded by aws-cli\n{table(seeds, columns)}", flush=True)

        columns = {}
        for peer in asked:
            own = Seeds(process.server, directory / f"own-{peer.program.name}", f"own-{peer.program.name}")
            own.seed(lambda p=peer, o=own: p.call(p.upload, o.tree, o.bucket, directory))
            status, output = peer.call(peer.ask, own.tree, own.bucket, directory)
            finds = lambda name, p=peer, o=output: p.finds(o, name)  # noqa: E731
            columns[peer.title] = status, {row: own.cell(row, finds) for row in own.rows}
            status, cells = ours(tool, own)
            right &= set(cells.values()) == {FOUND, RIGHT}
            # The worst of what all have uploaded.
            before = columns.get("manyhash", (status, cells))[1]
            worse = {row: cells[row] if cells[row] not in (FOUND, RIGHT) else before[row] for row in own.rows}
            columns["manyhash"] = status, worse
        columns["manyhash"] = columns.pop("manyhash")
        print(f"each uploaded by the tool itself; manyhash, of all of these\n{table(seeds, columns)}", flush=True)
    if not right:
        print("FAILED  manyhash")
    return int(not right)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        sys.exit(f"FAILED  {failure}")
