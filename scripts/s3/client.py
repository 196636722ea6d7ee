#!/usr/bin/env python3
"""`manyhash s3` against servers: what is the same is said to be, and what differs is found.

    client.py MANYHASH DIRECTORY --tools DIR [--server NAME]... [--seed N]

Each server has directories of its own in DIRECTORY. What peers do not keep to of S3's rules is left out, and said.
"""

import argparse
import random
import sys
import time
from functools import partial
from pathlib import Path

from agreements import Agreements
from pairs import ALGORITHMS
from report import Report
from seeded import Seeded
from servers import Manyhash, Minio, Process, Versitygw
from signing import Keys

KEYS = Keys("TESTS3", "no-secret-of-anyone")

# The algorithms that each server verifies. MinIO keeps what it is told of the others.
VERIFIED = {
    "manyhash": list(ALGORITHMS),
    "versitygw": list(ALGORITHMS),
    "minio": ["CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256"],
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--tools", type=Path, required=True, help="where clients and servers are installed")
    parser.add_argument("--server", action="append", choices=VERIFIED, help="the servers to ask, if not all")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    arguments = parser.parse_args()
    program, tools = arguments.program.absolute(), arguments.tools.absolute()
    print(f"client, --seed {arguments.seed}", flush=True)

    def start(name: str, store: str) -> Process:
        directory = arguments.directory / name / store
        directory.mkdir(parents=True, exist_ok=True)
        if name == "manyhash":
            return Manyhash(program, directory, keys=KEYS)
        peer = {"versitygw": Versitygw, "minio": Minio}[name]
        return peer(tools / "bin" / name, directory, KEYS)

    passed, failed = 0, 0
    for name in arguments.server or VERIFIED:
        started, report = time.monotonic(), Report(f"client, {name}")
        with start(name, "agreements") as process:
            Agreements(process, program, tools, VERIFIED[name], report, arguments.seed).run()
        Seeded(partial(start, name), program, report, arguments.seed).run()
        print(f"        {name}: {time.monotonic() - started:.0f} s", flush=True)
        passed, failed = passed + report.passed, failed + report.failed
    print(f"client: {passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
