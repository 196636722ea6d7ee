#!/usr/bin/env python3
"""Kills the server while clients write, again and again, and looks whether every acknowledged object is there and right.

    kills.py MANYHASH DIRECTORY [--rounds N] [--seed N]

Each client writes keys of its own and remembers what was acknowledged. After each kill a key must hold what was acknowledged
last, or whole and right what was on its way when the server was killed; nothing else may be visible. Parts of unfinished
uploads count as acknowledged too: some uploads are completed in a later round. At the end `manyhash store check` must find
nothing wrong.
"""

import argparse
import hashlib
import random
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from servers import Manyhash
from signing import Answer, Keys, Request, Server, Session

KEYS = Keys("KILLS", "a secret of no worth")
BUCKET = "kills"
PART = 5 << 20
# A key that holds nothing.
ABSENT = "absent"


@dataclass
class Upload:
    """A multipart upload that is not finished, and its acknowledged parts."""

    identifier: str
    parts: dict[int, tuple[str, bytes]] = field(default_factory=dict)


@dataclass
class Key:
    """What one key may hold: the digest that was acknowledged, and the one that is on its way."""

    acknowledged: str = ABSENT
    on_its_way: str | None = None
    upload: Upload | None = None


def digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


class Client(threading.Thread):
    """Writes its own keys until the server is gone."""

    def __init__(self, server: Server, keys: dict[str, Key], seed: int):
        super().__init__(daemon=True)
        self.session = Session(server)
        self.keys, self.random, self.count = keys, random.Random(seed), 0
        self.wrong: str | None = None

    def run(self) -> None:
        try:
            while self.step(self.random.choice(list(self.keys))):
                self.count += 1
        except OSError:
            pass
        self.session.close()

    def send(self, request: Request, body: bytes = b"") -> Answer | None:
        """The answer, or `None` if the server was killed before it came."""
        answer = self.session.send(request, body)
        if answer.status == 0:
            return None
        if answer.status >= 300:
            self.wrong = f"{request.method} {request.path} {request.query}: {answer} {answer.body[:300]}"
            return None
        return answer

    def step(self, name: str) -> bool:
        key, path = self.keys[name], f"/{BUCKET}/{name}"
        kind = self.random.random()
        if kind < 0.1:
            return self.write(key, Request("DELETE", path), b"", ABSENT)
        if kind < 0.16:
            return self.multipart(key, path)
        if kind < 0.7:
            # Now and then a body that is already there.
            body = self.random.randbytes(self.random.randrange(16_384)) if kind < 0.6 else bytes(self.random.randrange(64))
        else:
            body = self.random.randbytes(200_000)
        return self.write(key, Request("PUT", path), body, digest(body))

    def write(self, key: Key, request: Request, body: bytes, result: str) -> bool:
        key.on_its_way = result
        if self.send(request, body) is None:
            return False
        key.acknowledged, key.on_its_way = result, None
        return True

    def multipart(self, key: Key, path: str) -> bool:
        """One step of an upload: its start, a part, again a part, or its end."""
        if key.upload is None:
            started = self.send(Request("POST", path, {"uploads": ""}))
            if started:
                key.upload = Upload(started.element("UploadId"))
            return started is not None
        upload = key.upload
        if len(upload.parts) < 2 or self.random.random() < 0.2:
            number = self.random.choice([1, 2])
            body = self.random.randbytes(PART if number == 1 else self.random.randrange(1, 300_000))
            query = {"partNumber": str(number), "uploadId": upload.identifier}
            # A part that is sent again may replace the one that is there even if that is not acknowledged.
            before = upload.parts.pop(number, None)
            done = self.send(Request("PUT", path, query), body)
            if done:
                upload.parts[number] = (done.headers["etag"], body)
            elif before:
                key.upload = None
            return done is not None
        return complete(self, key, path)


def complete(client: Client, key: Key, path: str) -> bool:
    upload, key.upload = key.upload, None
    parts = sorted(upload.parts.items())
    listed = "".join(f"<Part><PartNumber>{number}</PartNumber><ETag>{tag}</ETag></Part>" for number, (tag, _) in parts)
    body = f"<CompleteMultipartUpload>{listed}</CompleteMultipartUpload>".encode()
    whole = digest(b"".join(data for _, (_, data) in parts))
    key.on_its_way = whole
    done = client.send(Request("POST", path, {"uploadId": upload.identifier}), body)
    if done is None:
        return False
    if b"<Error>" in done.body:
        client.wrong = f"complete {path}: {done.body[:300]}"
        return False
    key.acknowledged, key.on_its_way = whole, None
    return True


def verify(server: Server, keys: dict[str, Key]) -> list[str]:
    """What is wrong with what is visible. What was on its way is settled by it."""
    found, token, wrong = set(), "", []
    session = Session(server)
    while True:
        query = {"list-type": "2"} | ({"continuation-token": token} if token else {})
        listed = session.send(Request("GET", f"/{BUCKET}", query))
        if listed.status != 200:
            return [f"LIST: {listed}"]
        found |= set(re.findall("<Key>([^<]*)</Key>", listed.body.decode()))
        token = listed.element("NextContinuationToken")
        if not token:
            break
    session.close()
    wrong += [f"{name} was never written" for name in found - set(keys)]

    def look(names: list[str]) -> None:
        session = Session(server)
        for name in names:
            key, visible = keys[name], ABSENT
            answer = session.send(Request("GET", f"/{BUCKET}/{name}"))
            if answer.status == 200:
                visible = digest(answer.body)
            elif answer.status != 404:
                wrong.append(f"{name}: GET says {answer}")
            if (visible != ABSENT) != (name in found):
                wrong.append(f"{name}: GET says {answer}, the list {'has' if name in found else 'lacks'} it")
            if visible not in (key.acknowledged, key.on_its_way):
                expected = f"{key.acknowledged}, on its way {key.on_its_way}"
                wrong.append(f"{name}: {len(answer.body)} bytes, {visible}; acknowledged {expected}")
            key.acknowledged, key.on_its_way = visible, None
        session.close()

    names = sorted(keys)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(look, (names[start::4] for start in range(4))))
    return wrong


def check(program: Path, directory: Path) -> list[str]:
    done = subprocess.run([program, "store", "check", directory / "store"], capture_output=True, text=True)
    return [] if done.returncode == 0 else [f"store check: exit status {done.returncode}\n{done.stdout}{done.stderr}"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--keys", type=int, default=12, help="of each client")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    print(f"kills, {arguments.rounds} rounds, --seed {arguments.seed}", flush=True)
    shares = [{f"client-{client}/key-{number}": Key() for number in range(arguments.keys)} for client in range(arguments.clients)]
    keys = {name: key for share in shares for name, key in share.items()}
    total, wrong, started = 0, [], time.monotonic()
    for number in range(arguments.rounds + 1):
        # What was stored once may be stored again, and the other way round.
        options = ["--no-dedupe"] if chance.random() < 0.2 else []
        process = Manyhash(arguments.program, arguments.directory, *options, keys=KEYS)
        if number and chance.random() < 0.1:
            # Killed while it starts.
            time.sleep(chance.random() * 0.1)
            process.end(signal.SIGKILL)
            process = Manyhash(arguments.program, arguments.directory, *options, keys=KEYS)
        server = process.endpoint()
        if number == 0:
            Session(server).send(Request("PUT", f"/{BUCKET}"))
        wrong = verify(server, keys)
        if wrong or number == arguments.rounds:
            break
        if number % 10 == 9:
            # A kill may leave files that nobody knows; the server that came after has removed them.
            if wrong := process.stop() + check(arguments.program, arguments.directory):
                break
            process = Manyhash(arguments.program, arguments.directory, *options, keys=KEYS)
            server = process.endpoint()
        clients = [Client(server, share, chance.randrange(1 << 32)) for share in shares]
        for client in clients:
            client.start()
        time.sleep(0.05 + chance.random() * 0.6)
        process.end(signal.SIGKILL)
        for client in clients:
            client.join()
            total += client.count
        wrong = [client.wrong for client in clients if client.wrong]
        if wrong:
            break
        if number % 100 == 99:
            print(f"        {number + 1} rounds, {total} writes, {time.monotonic() - started:.0f} s", flush=True)
    if process.process.poll() is None:
        wrong += process.stop()
    if not wrong:
        wrong = check(arguments.program, arguments.directory)
    present = sum(key.acknowledged != ABSENT for key in keys.values())
    took = f"{time.monotonic() - started:.0f} s"
    if wrong:
        print(f"FAILED  kills: round {number}, {took}", *wrong[:20], sep="\n        ", flush=True)
        return 1
    print(f"ok      kills: {number} rounds, {total} writes acknowledged, {present} objects at the end, {took}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
