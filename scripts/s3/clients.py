#!/usr/bin/env python3
"""Real clients against a server: each PUTs, GETs, lists, copies and deletes, with a wrong key and with wrong checksums.

    clients.py ENDPOINT ACCESS SECRET --tools DIR [--certificate FILE]

Without TLS bodies are also changed on their way, by a proxy, and every client must hear of it.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from boto import Boto
from commands import Run, programs
from corrupt import Corrupting
from signing import Keys, Server


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("endpoint")
    parser.add_argument("access")
    parser.add_argument("secret")
    parser.add_argument("--tools", type=Path, required=True, help="where the clients are installed")
    parser.add_argument("--certificate", help="PEM file to trust")
    arguments = parser.parse_args()
    endpoint, certificate = arguments.endpoint, arguments.certificate
    keys = Keys(arguments.access, arguments.secret)
    server = Server(endpoint, keys)
    corrupting = None if certificate else Corrupting(endpoint)

    boto = Boto(endpoint, keys, certificate, "boto3").run()
    passed, failed = boto.passed, boto.failed
    with tempfile.TemporaryDirectory() as home:
        tools = arguments.tools.absolute()
        corrupted = programs(tools, corrupting.endpoint, keys, None, Path(home)) if corrupting else []
        for number, program in enumerate(programs(tools, endpoint, keys, certificate, Path(home))):
            report = Run(program, server, Path(home)).run(corrupted[number] if corrupted else None)
            passed, failed = passed + report.passed, failed + report.failed
    sys.stdout.flush()
    through = [corrupting.endpoint] if corrupting else []
    trusted = {"SSL_CERT_FILE": certificate} if certificate else {}
    go = subprocess.run(
        [arguments.tools / "bin/clients", endpoint, keys.access, keys.secret, keys.region, *through],
        env=os.environ | trusted,
        stdout=subprocess.PIPE,
        text=True,
    )
    print(go.stdout, end="")
    lines = go.stdout.splitlines()
    passed += sum(line.startswith("ok ") for line in lines)
    failed += sum(line.startswith("FAILED") for line in lines)
    if corrupting and corrupting.changed < 6:
        print(f"FAILED  the proxy changed {corrupting.changed} bodies only")
        failed += 1
    if go.returncode != 0 and failed == 0:
        failed = 1
    print(f"clients, {endpoint.partition(':')[0]}: {passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
