"""Requests as a client that lies would send them: signed by hand, sent over a bare socket, byte by byte if need be.

Signature version 4 by header, and the frames of `aws-chunked` with signed chunks and trailers. Nothing here comes from an SDK,
which would refuse to send most of what `hostile.py` sends.
"""

import hashlib
import hmac
import http.client
import socket
import ssl
import time
import urllib.parse
from dataclasses import dataclass, field

# Whom these clients talk to does not matter.
ANYBODY = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
ANYBODY.check_hostname = False
ANYBODY.verify_mode = ssl.CERT_NONE

EMPTY = hashlib.sha256(b"").hexdigest()
UNSIGNED = "UNSIGNED-PAYLOAD"
SIGNED_CHUNKS = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
SIGNED_CHUNKS_TRAILER = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER"
UNSIGNED_TRAILER = "STREAMING-UNSIGNED-PAYLOAD-TRAILER"


@dataclass(frozen=True)
class Keys:
    """An access key and its secret."""

    access: str
    secret: str
    region: str = "us-east-1"


@dataclass(frozen=True)
class Server:
    """Where requests go, and by whom they are signed."""

    endpoint: str
    keys: Keys

    @property
    def address(self) -> tuple[str, int]:
        parts = urllib.parse.urlsplit(self.endpoint)
        return parts.hostname, parts.port

    @property
    def host(self) -> str:
        return urllib.parse.urlsplit(self.endpoint).netloc

    def connect(self, timeout: float = 30) -> socket.socket:
        plain = socket.create_connection(self.address, timeout)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.endpoint.startswith("https:"):
            return ANYBODY.wrap_socket(plain)
        return plain


def encode(text: str, safe: str = "") -> str:
    return urllib.parse.quote(text, safe=safe + "-_.~")


def mac(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


@dataclass
class Chain:
    """The signatures of a body's chunks, each over the one before it."""

    key: bytes
    date: str
    scope: str
    previous: str

    def _sign(self, kind: str, *lines: str) -> str:
        text = "\n".join([f"AWS4-HMAC-SHA256-{kind}", self.date, self.scope, self.previous, *lines])
        self.previous = mac(self.key, text).hex()
        return self.previous

    def chunk(self, data: bytes) -> bytes:
        """A frame: size, signature, data."""
        signature = self._sign("PAYLOAD", EMPTY, hashlib.sha256(data).hexdigest())
        end = b"\r\n" if data else b""
        return f"{len(data):x};chunk-signature={signature}\r\n".encode() + data + end

    def trailer(self, name: str, value: str) -> bytes:
        """What follows the last frame: a trailer and its signature."""
        signature = self._sign("TRAILER", hashlib.sha256(f"{name}:{value}\n".encode()).hexdigest())
        return f"{name}:{value}\r\nx-amz-trailer-signature:{signature}\r\n".encode()


@dataclass
class Request:
    """A request to be signed. `payload` is the value of `x-amz-content-sha256`."""

    method: str
    path: str
    query: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    payload: str = EMPTY

    def head(self, server: Server, moment: float | None = None) -> tuple[bytes, Chain]:
        """The head as bytes, its signature in it, and the chain that continues with it."""
        keys = server.keys
        date = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(time.time() if moment is None else moment))
        headers = {"host": server.host, "x-amz-date": date, "x-amz-content-sha256": self.payload}
        headers.update({name.lower(): value for name, value in self.headers.items()})
        path = encode(self.path, "/")
        query = "&".join(f"{encode(name)}={encode(value)}" for name, value in sorted(self.query.items()))
        # HTTP's own headers may be changed on the way, so clients leave them out.
        names = sorted(name for name in headers if name not in ("connection", "expect", "transfer-encoding"))
        canonical = "".join(f"{name}:{headers[name].strip()}\n" for name in names)
        signed = ";".join(names)
        request = "\n".join([self.method, path, query, canonical, signed, headers["x-amz-content-sha256"]])
        scope = f"{date[:8]}/{keys.region}/s3/aws4_request"
        key = f"AWS4{keys.secret}".encode()
        for part in scope.split("/"):
            key = mac(key, part)
        text = "\n".join(["AWS4-HMAC-SHA256", date, scope, hashlib.sha256(request.encode()).hexdigest()])
        signature = mac(key, text).hex()
        headers["authorization"] = (
            f"AWS4-HMAC-SHA256 Credential={keys.access}/{scope}, SignedHeaders={signed}, Signature={signature}"
        )
        target = path + ("?" + query if query else "")
        lines = [f"{self.method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
        return ("\r\n".join(lines) + "\r\n\r\n").encode(), Chain(key, date, scope, signature)


@dataclass(frozen=True)
class Answer:
    """What came back. Status 0: nothing did, the connection was closed."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def code(self) -> str:
        """The error's name, if the body tells one."""
        return self.element("Code") if self.status >= 300 else ""

    def element(self, name: str) -> str:
        _, found, rest = self.body.decode(errors="replace").partition(f"<{name}>")
        return rest.partition(f"</{name}>")[0] if found else ""

    def __str__(self) -> str:
        return f"{self.status} {self.code}".strip() if self.status else "closed"


CLOSED = Answer(0, {}, b"")


def receive(connection: socket.socket, method: str = "PUT") -> Answer:
    """Reads one answer. A connection that ends before it gives `CLOSED`."""
    try:
        response = http.client.HTTPResponse(connection, method=method)
        response.begin()
        body = response.read()
    except (OSError, http.client.HTTPException):
        return CLOSED
    return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, body)


class Session:
    """One connection kept alive, for clients that do nothing wrong. It is opened again when the server closed it."""

    def __init__(self, server: Server, timeout: float = 60):
        self.server = server
        self.timeout = timeout
        self.connection: socket.socket | None = None

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def send(self, request: Request, body: bytes = b"") -> Answer:
        """Sends a request, the body signed by its SHA-256 unless the request says otherwise, and reads the answer."""
        if request.payload == EMPTY and body:
            request.payload = hashlib.sha256(body).hexdigest()
        request.headers.setdefault("content-length", str(len(body)))
        head, _ = request.head(self.server)
        if self.connection is None:
            self.connection = self.server.connect(self.timeout)
        try:
            self.connection.sendall(head + body)
            answer = receive(self.connection, request.method)
        except OSError:
            answer = CLOSED
        if answer.status == 0 or answer.headers.get("connection", "").lower() == "close":
            self.close()
        return answer
