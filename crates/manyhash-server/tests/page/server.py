"""`manyhash serve` as a process of its own, and a client that keeps it busy."""

import re
import socket
import subprocess
import threading
from http.client import HTTPResponse
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError


class Server:
    """A running server. Leaving the context stops it, by its own process ID."""

    def __init__(self, program: str, directory: Path, *options: str, admin: str = "127.0.0.1:0"):
        command = [program, "serve", str(directory), "--listen", "127.0.0.1:0", "--admin", admin, *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.endpoint, self.access, self.secret, self.page = self._announced()

    def _announced(self) -> list[str]:
        """What the server prints when it is ready."""
        printed, wanted = "", [r"endpoint\s+(\S+)", r"access key\s+(\S+)", r"secret key\s+(\S+)", r"live page\s+(\S+)"]
        for line in self.process.stdout:
            printed += line
            found = [re.search(pattern, printed) for pattern in wanted]
            if all(found):
                return [match[1] for match in found]
        raise RuntimeError(f"{self.process.args} ended with {self.process.wait()} and printed {printed!r}")

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def client(self):
        """A client that tries nothing twice."""
        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            aws_access_key_id=self.access,
            aws_secret_access_key=self.secret,
            region_name="us-east-1",
            config=Config(retries={"max_attempts": 0}, signature_version="s3v4"),
        )


class Load:
    """Uploads and downloads until its end, some bodies twice: a thread with boto3, and bursts on many connections.

    A burst is sent before any of its answers is read, so that the server has much to do at once and Python little.
    """

    BUCKET = "load"
    BURST = 128
    SIZES = (16 << 10, 64 << 10, 256 << 10)
    PAUSE = 0.02

    def __init__(self, server: Server):
        self.client = server.client()
        self.client.create_bucket(Bucket=self.BUCKET)
        self.address = urlsplit(server.endpoint)
        self.stopped = threading.Event()
        self.failures: list[Exception] = []
        self.threads = [threading.Thread(target=self._run, args=[task]) for task in (self._boto3, self._bursts)]

    def __enter__(self) -> "Load":
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopped.set()
        for thread in self.threads:
            thread.join()

    def _run(self, task) -> None:
        try:
            task()
        except Exception as failure:
            self.failures.append(failure)

    def _boto3(self) -> None:
        random = Random(1)
        while not self.stopped.wait(5 * self.PAUSE):
            target = {"Bucket": self.BUCKET, "Key": f"boto3/{random.randrange(100)}"}
            body = random.randbytes(random.choice(self.SIZES))
            self.client.put_object(Body=body, **target)
            assert self.client.get_object(**target)["Body"].read() == body

    def _bursts(self) -> None:
        random = Random(2)
        store = random.randbytes(16 << 20)
        sockets = [socket.create_connection((self.address.hostname, self.address.port)) for _ in range(self.BURST)]
        targets = [{"Bucket": self.BUCKET, "Key": f"bursts/{number}"} for number in range(self.BURST)]
        put, get = ([self._presigned(method, target) for target in targets] for method in ("put_object", "get_object"))
        bodies: dict[int, bytes] = {}
        turn = 0
        while not self.stopped.wait(self.PAUSE):
            turn += 1
            requests, answers = [], []
            for number in range(self.BURST):
                # One connection of four asks for the body that it sent before, the others send new ones.
                if number in bodies and (number + turn) % 4 == 0:
                    requests.append(b"GET %b\r\n" % get[number])
                    answers.append(bodies[number])
                    continue
                # One of four is a body that was there before.
                start, size = random.randrange(len(store) // 2) if random.randrange(4) else 0, random.choice(self.SIZES)
                bodies[number] = store[start : start + size]
                requests.append(b"PUT %bContent-Length: %d\r\n\r\n%b" % (put[number], size, bodies[number]))
                answers.append(b"")
            assert self._burst(sockets, requests) == answers
        for connection in sockets:
            connection.close()

    def _presigned(self, method: str, target: dict) -> bytes:
        """What follows the method in a presigned request's head."""
        url = urlsplit(self.client.generate_presigned_url(method, target))
        return f"{url.path}?{url.query} HTTP/1.1\r\nHost: {url.netloc}\r\n".encode()

    @staticmethod
    def _burst(sockets: list[socket.socket], requests: list[bytes]) -> list[bytes]:
        for connection, request in zip(sockets, requests):
            connection.sendall(request)
        bodies = []
        for connection in sockets:
            response = HTTPResponse(connection)
            response.begin()
            bodies.append(response.read())
            assert response.status == 200, bodies[-1]
        return bodies


def refused(client, bucket: str, key: str) -> str:
    """Uploads a body with the digest of another, and returns the message of the refusal."""
    wrong = "1B2M2Y8AsgTpgAmY7PhCfg=="
    try:
        client.put_object(Bucket=bucket, Key=key, Body=b"not empty", ContentMD5=wrong)
    except ClientError as error:
        assert error.response["Error"]["Code"] == "BadDigest", error
        return error.response["Error"]["Message"]
    raise AssertionError("a body with a wrong Content-MD5 was accepted")
