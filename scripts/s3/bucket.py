"""A bucket under test: what must be in it, and what went wrong."""

import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from signing import Answer, Request, Server, Session, receive


class Bucket:
    """A bucket, what must be in it at the end, and what went wrong."""

    def __init__(self, server: Server, seed: int):
        self.server = server
        self.name = f"hostile-{seed:08x}"
        self.random = random.Random(seed)
        self.kept: dict[str, bytes] = {}
        self.failures: list[str] = []
        self.lock = threading.Lock()
        self.numbers = iter(range(1 << 30))
        created = self.ask("PUT", f"/{self.name}")
        assert created.status == 200, f"the bucket was not created: {created}"

    def body(self, length: int) -> bytes:
        return self.random.randbytes(length)

    def key(self) -> str:
        with self.lock:
            return f"key-{next(self.numbers):06}"

    def path(self, key: str) -> str:
        return f"/{self.name}/{key}"

    def ask(self, method: str, path: str, query=None, body: bytes = b"", headers=None) -> Answer:
        session = Session(self.server)
        try:
            return session.send(Request(method, path, query or {}, dict(headers or {})), body)
        finally:
            session.close()

    def exchange(self, head: bytes, frames: list[bytes]) -> Answer:
        """Sends all and reads the answer, even if it comes before all is sent."""
        with self.server.connect() as connection:
            try:
                connection.sendall(head + b"".join(frames))
            except OSError:
                pass
            return receive(connection)

    def fail(self, name: str, text: str) -> None:
        with self.lock:
            self.failures.append(f"{name}: {text}")
            print(f"FAILED  {name}: {text}", flush=True)

    def absent(self, name: str, key: str) -> None:
        """The key must not exist."""
        answer = self.ask("HEAD", self.path(key))
        if answer.status != 404:
            self.fail(name, f"the key exists: HEAD says {answer}, {answer.headers.get('content-length')} bytes")

    def present(self, name: str, key: str, body: bytes) -> None:
        """The key must exist with exactly these bytes."""
        answer = self.ask("GET", self.path(key))
        if answer.status != 200 or answer.body != body:
            self.fail(name, f"GET says {answer}, {len(answer.body)} bytes; {len(body)} were acknowledged")

    def refused(self, name: str, answer: Answer, expected: set) -> None:
        if str(answer) not in expected and answer.status not in expected:
            self.fail(name, f"expected {' or '.join(sorted(map(str, expected)))}, got {answer}")

    def done(self, name: str, count: int, before: int) -> None:
        failed = len(self.failures) - before
        print(f"{'ok' if not failed else 'FAILED':7} {name}: {count} cases", flush=True)

    def group(self, name: str, cases) -> None:
        """Runs cases, each a function and its arguments, and says how they went."""
        before, started = len(self.failures), time.monotonic()

        def one(case):
            try:
                case[0](*case[1:])
            except Exception as error:  # A client's failure counts as the server's until it is looked at.
                self.fail(name, f"{case[1:3]}: {type(error).__name__}: {error}")

        with ThreadPoolExecutor(48) as pool:
            count = len(list(pool.map(one, cases)))
        self.done(f"{name} ({time.monotonic() - started:.1f} s)", count, before)
