"""`manyhash`, told of a server and of nothing else."""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from report import Failed, expect
from signing import Server

# What adds up to the exit status of `s3 verify`.
STATES = {"same": 0, "differs": 2, "missing": 4, "extra": 16, "unverified": 32}


@dataclass(frozen=True)
class Found:
    """What a comparison found: for each name the object that was printed of it."""

    status: int
    names: dict[str, dict]
    said: str

    @property
    def states(self) -> dict[str, str]:
        return {name: record["status"] for name, record in self.names.items()}

    def expect(self, states: dict[str, str]) -> None:
        """It must be exactly that, and so must the exit status."""
        wrong = [
            f"{name}: {self.names.get(name)}, not {states.get(name)}"
            for name in sorted(states.keys() | self.names.keys())
            if self.states.get(name) != states.get(name)
        ]
        expect(not wrong, f"{len(wrong)} of {len(states)} are wrong, such as {wrong[:8]}; {self.said}")
        status = sum(STATES[state] for state in set(states.values()))
        expect(self.status == status, f"exit status {self.status}, not {status}; {self.said}")

    def how(self) -> str:
        """By what names were found to be the same, and how many."""
        counts: dict[str, int] = {}
        for record in self.names.values():
            word = record.get("compared", record["status"])
            origin = " of ".join(sorted(set(record.get("from", [])) - {"file", "list"}))
            word = f"{word} {origin}".strip()
            counts[word] = counts.get(word, 0) + 1
        return ", ".join(f"{count} {word}" for word, count in sorted(counts.items(), key=lambda item: -item[1]))


@dataclass(frozen=True)
class Tool:
    """The program, and whom it asks."""

    program: Path
    server: Server
    endpoint: str | None = None

    def through(self, endpoint: str) -> "Tool":
        """The same by another way."""
        return Tool(self.program, self.server, endpoint)

    @property
    def environment(self) -> dict[str, str]:
        """All that it is told by its environment."""
        keys = self.server.keys
        return {
            "PATH": os.environ["PATH"],
            "AWS_ACCESS_KEY_ID": keys.access,
            "AWS_SECRET_ACCESS_KEY": keys.secret,
            "AWS_REGION": keys.region,
            "AWS_ENDPOINT_URL_S3": self.endpoint or self.server.endpoint,
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "AWS_EC2_METADATA_DISABLED": "true",
            "RUST_BACKTRACE": "1",
        }

    def call(self, *arguments: str | Path, status: int | None = 0, **how) -> subprocess.CompletedProcess:
        """Calls it. With no status, any but that of a crash is right."""
        command = [self.program, *arguments]
        done = subprocess.run(
            command, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=1200, **how
        )
        said = done.stderr.decode(errors="replace")
        is_right = 0 <= done.returncode < 64 if status is None else done.returncode == status
        if not is_right or "panicked" in said:
            raise Failed(f"{' '.join(map(str, arguments))}: exit status {done.returncode}\n{said[-3000:]}")
        return done

    def verify(self, one: str | Path, other: str | Path, *options: str | Path) -> Found:
        # What is in the user's cache says nothing of this.
        done = self.call("s3", "verify", "--json", "--no-cache", *options, one, other, status=None)
        records = [json.loads(line) for line in done.stdout.splitlines()]
        names = {record["name"]: record for record in records}
        expect(len(names) == len(records), "a name was printed twice")
        order = [record["name"].encode() for record in records if "name_hex" not in record]
        expect(order == sorted(order), "names are not in the order of their bytes")
        return Found(done.returncode, names, done.stderr.decode(errors="replace").strip()[-2000:])
