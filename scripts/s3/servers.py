"""Servers of S3 on this machine, each with a directory and a port of its own, ended by its own process."""

import os
import re
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

from signing import Keys, Request, Server, Session

# Until one that was started answers.
PATIENCE = 60


class DidNotStart(SystemExit):
    """A server that ends at once, and why."""


class Process:
    """A program that serves. Its store is `store` in its directory."""

    # What it is called in reports.
    name: str

    def __init__(self, command: list, directory: Path, keys: Keys, environment: dict[str, str] | None = None):
        self.directory, self.keys = directory, keys
        self.errors = open(directory / "stderr", "w+")
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            env=os.environ | (environment or {}),
        )
        self.server: Server | None = None

    def __enter__(self) -> "Process":
        self.endpoint()
        return self

    def __exit__(self, *_) -> None:
        self.stop()

    @property
    def store(self) -> Path:
        return self.directory / "store"

    def endpoint(self) -> Server:
        """Waits until it answers."""
        raise NotImplementedError

    def swallow(self) -> None:
        """What it says must not fill the pipe."""
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def did_not_start(self) -> DidNotStart:
        self.errors.seek(0)
        return DidNotStart(f"the server did not start, exit status {self.end(signal.SIGKILL)}:\n{self.errors.read()}")

    def end(self, how: signal.Signals) -> int:
        self.process.send_signal(how)
        return self.process.wait(60)

    def stop(self) -> list[str]:
        """Ends it as an administrator would, and says what was wrong with that."""
        status = self.end(signal.SIGTERM)
        return [f"exit status {status} after SIGTERM"] if status else []


class Manyhash(Process):
    """`manyhash serve`, on a port of its own choosing."""

    name = "manyhash"

    def __init__(self, program: Path, directory: Path, *more: str, keys: Keys):
        directory.mkdir(parents=True, exist_ok=True)
        file = directory / "keys.toml"
        file.write_text(f'[[key]]\naccess = "{keys.access}"\nsecret = "{keys.secret}"\n')
        options = ["--listen", "127.0.0.1:0", "--admin", "none", "--keys", file, "--region", keys.region, *more]
        super().__init__([program, "serve", directory / "store", *options], directory, keys)

    def endpoint(self) -> Server:
        """Waits until it says where it listens."""
        for line in self.process.stdout:
            if found := re.search(r"https?://127\.0\.0\.1:\d+", line):
                self.server = Server(found[0], self.keys)
                self.swallow()
                return self.server
        raise self.did_not_start()


class Peer(Process):
    """A server that has to be told its port."""

    def __init__(self, program: Path, directory: Path, keys: Keys):
        (directory / "store").mkdir(parents=True, exist_ok=True)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        command, environment = self.command(directory, keys)
        super().__init__([program, *command], directory, keys, {"HOME": str(directory), **environment})

    def command(self, directory: Path, keys: Keys) -> tuple[list, dict[str, str]]:
        """Arguments and environment."""
        raise NotImplementedError

    def endpoint(self) -> Server:
        server, until = Server(f"http://{self.address}", self.keys), time.monotonic() + PATIENCE
        self.swallow()
        while time.monotonic() < until and self.process.poll() is None:
            session = Session(server)
            try:
                if session.send(Request("GET", "/")).status == 200:
                    self.server = server
                    return server
            except OSError:
                pass
            finally:
                session.close()
            time.sleep(0.05)
        raise self.did_not_start()


class Versitygw(Peer):
    """With its backend of files."""

    name = "versitygw"

    def command(self, directory: Path, keys: Keys) -> tuple[list, dict[str, str]]:
        options = ["--access", keys.access, "--secret", keys.secret, "--region", keys.region, "--quiet", "--keep-alive"]
        return [*options, "--port", self.address, "posix", directory / "store"], {}


class Minio(Peer):
    """With a key to encrypt with."""

    name = "minio"

    def command(self, directory: Path, keys: Keys) -> tuple[list, dict[str, str]]:
        environment = {
            "MINIO_ROOT_USER": keys.access,
            "MINIO_ROOT_PASSWORD": keys.secret,
            "MINIO_UPDATE": "off",
            "MINIO_BROWSER": "off",
            "MINIO_KMS_SECRET_KEY": "key:bm8gc2VjcmV0IG9mIGFueW9uZSwgMzIgYnl0ZXMgbG8=",
        }
        return ["server", directory / "store", "--quiet", "--address", self.address], environment
