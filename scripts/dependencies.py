#!/usr/bin/env python3
"""Check every crate in Cargo.lock against deny.toml: its licence, its source, and the Rust that it needs.

Needs Python 3.11 and cargo. cargo-deny checks more of it, advisories and duplicates among them.
"""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
CRATES_IO = "registry+https://github.com/rust-lang/crates.io-index"


def allows(allowed: set[str], expression: str) -> bool:
    """Whether an SPDX expression can be met by the licences allowed. AND binds before OR; a slash is an old OR."""
    tokens = re.findall(r"\(|\)|/|[^\s()/]+(?: WITH [^\s()/]+)?", expression)

    def any_of() -> bool:
        met = all_of()
        while tokens and tokens[0] in ("OR", "/"):
            tokens.pop(0)
            met = all_of() or met
        return met

    def all_of() -> bool:
        met = one()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            met = one() and met
        return met

    def one() -> bool:
        token = tokens.pop(0)
        if token != "(":
            return token in allowed
        met = any_of()
        tokens.pop(0)
        return met

    return any_of()


def version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def main() -> int:
    allowed = set(tomllib.loads((ROOT / "deny.toml").read_text())["licenses"]["allow"])
    command = ["cargo", "metadata", "--locked", "--all-features", "--format-version", "1"]
    packages = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)["packages"]
    own = [package for package in packages if package["source"] is None]
    newest = max((package["rust_version"] for package in own), key=version)

    wrong = []
    for package in packages:
        name = f"{package['name']} {package['version']}"
        licence = package["license"] or "none"
        if not allows(allowed, licence):
            wrong.append(f"{name}: licence {licence}")
        if package["source"] not in (None, CRATES_IO):
            wrong.append(f"{name}: from {package['source']}")
        if version(package["rust_version"] or "1") > version(newest):
            wrong.append(f"{name}: needs Rust {package['rust_version']}, and manyhash promises {newest}")
    for line in wrong:
        print(line, file=sys.stderr)
    print(f"{len(packages)} crates, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
