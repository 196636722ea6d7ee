"""`manyhash serve` as a process of its own, and a client that keeps it busy."""

import hashlib
import re
import subprocess
import threading
from base64 import b64encode
from http.client import HTTPConnection
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError


class Server:
    """A running server. Leaving the context ends it, by its own process ID."""

    def __init__(self, program: str, directory: Path, *options: str, admin: str = "127.0.0.1:0"):
        command = [program, "serve", str(directory), "--listen", "127.0.0.1:0", "--admin", admin, *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.endpoint, self.access, self.secret, self.page = self._announced()
        self.admin = re.sub("^http://|/$", "", self.page)

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
    """Uploads and downloads until its end: bodies of several sizes, some of them twice.

    All but one of the threads send presigned requests, which leaves more of the processors to the server.
    """

    THREADS = 24
    KEYS = 20
    BUCKET = "load"

    def __init__(self, server: Server):
        self.client = server.client()
        self.client.create_bucket(Bucket=self.BUCKET)
        self.address = urlsplit(server.endpoint).netloc
        self.stopped = threading.Event()
        self.failures: list[Exception] = []
        tasks = [self._through_boto3, *[self._presigned] * (self.THREADS - 1)]
        self.threads = [threading.Thread(target=self._run, args=task) for task in enumerate(tasks)]

    def __enter__(self) -> "Load":
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopped.set()
        for thread in self.threads:
            thread.join()

    def _run(self, number: int, task) -> None:
        try:
            # Every fourth body is one that all threads send.
            bodies = [random_body(f"{turn} {number if turn % 4 else ''}", turn) for turn in range(self.KEYS)]
            task(number, bodies)
        except Exception as failure:
            self.failures.append(failure)

    def _through_boto3(self, number: int, bodies: list[bytes]) -> None:
        while not self.stopped.is_set():
            for turn, body in enumerate(bodies):
                target = {"Bucket": self.BUCKET, "Key": f"{number}/{turn}"}
                self.client.put_object(Body=body, **target)
                assert self.client.get_object(**target)["Body"].read() == body

    def _presigned(self, number: int, bodies: list[bytes]) -> None:
        requests = []
        for turn, body in enumerate(bodies):
            target = {"Bucket": self.BUCKET, "Key": f"{number}/{turn}"}
            md5 = b64encode(hashlib.md5(body).digest()).decode()
            put = self.client.generate_presigned_url("put_object", {**target, "ContentMD5": md5})
            requests.append(("PUT", put, body, {"Content-MD5": md5}))
            if turn % 2:
                requests.append(("GET", self.client.generate_presigned_url("get_object", target), body, {}))
        connection = HTTPConnection(self.address)
        while not self.stopped.is_set():
            for method, url, body, headers in requests:
                connection.request(method, url, body if method == "PUT" else None, headers)
                response = connection.getresponse()
                answer = response.read()
                assert response.status == 200, answer
                assert method == "PUT" or answer == body
        connection.close()


def random_body(seed: str, turn: int) -> bytes:
    """Bytes that only this seed gives, as many as it is the turn of."""
    return Random(seed).randbytes((4 << 10, 64 << 10, 1 << 20)[turn % 3])


def refused(client, bucket: str, key: str) -> str:
    """Uploads a body with the digest of another, and returns the message of the refusal."""
    wrong = "1B2M2Y8AsgTpgAmY7PhCfg=="
    try:
        client.put_object(Bucket=bucket, Key=key, Body=b"not empty", ContentMD5=wrong)
    except ClientError as error:
        assert error.response["Error"]["Code"] == "BadDigest", error
        return error.response["Error"]["Message"]
    raise AssertionError("a body with a wrong Content-MD5 was accepted")
