#!/usr/bin/env python3
"""Clients that stop, lie, race and dawdle. Nothing that they send may ever be seen unless it was acknowledged.

    hostile.py ENDPOINT ACCESS SECRET [--seed N]

Every request is signed by hand and sent over a bare socket (`signing.py`). After each that must fail, its key must not exist,
and at the end the bucket must hold nothing but what was acknowledged.
"""

import argparse
import random
import resource
import socket
import struct
import sys
import threading
import time
from collections import Counter

from bucket import Bucket
from lies import lies
from signing import CLOSED, UNSIGNED, Answer, Keys, Request, Server, Session, receive
from uploads import Upload

# Up to this a body may be kept in memory until it is verified; a longer one goes to a file as it comes.
SMALL, LARGE = 100_000, 300_000


# Truth: every encoding, sent as it should be, is acknowledged and can be read.


def truth(bucket: Bucket, mode: str, length: int) -> None:
    upload, key = Upload(mode, bucket.body(length)), bucket.key()
    answer = bucket.exchange(*upload.wire(bucket.server, bucket.path(key)))
    bucket.refused(f"{mode}, {length} bytes", answer, {200})
    bucket.kept[key] = upload.body
    bucket.present(f"{mode}, {length} bytes", key, upload.body)


# Stopping: a body that ends early is never an object, however its connection ends.


def stop(bucket: Bucket, mode: str, ending: str, upload: Upload, place: int, query=None, key=None) -> None:
    """Sends `place` bytes of a body, or all but `-place` bytes of the head, then ends the connection."""
    name = f"{mode}, {len(upload.body)} bytes, {ending} at {place}"
    target = key or bucket.key()
    head, frames = upload.wire(bucket.server, bucket.path(target), query)
    sent = head + b"".join(frames)[:place] if place >= 0 else head[:place]
    connection = bucket.server.connect()
    try:
        connection.sendall(sent)
        if ending == "FIN":
            if hasattr(connection, "unwrap"):
                connection.settimeout(5)
                connection.unwrap()
            else:
                connection.shutdown(socket.SHUT_WR)
                answer = receive(connection)
                if 200 <= answer.status < 300:
                    bucket.fail(name, f"acknowledged: {answer}")
        elif ending == "RST":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        else:
            time.sleep(1)
    except OSError:
        pass
    connection.close()
    if key is None:
        bucket.absent(name, target)


def places(bucket: Bucket, upload: Upload, count: int) -> list[int]:
    """Where to stop: around the ends of frames, and anywhere."""
    _, frames = upload.wire(bucket.server, bucket.path("key-000000"))
    length, edges = 0, {0, 1}
    for frame in frames:
        length += len(frame)
        edges |= {length - 2, length - 1, length, length + 1, length + 5}
    edges = sorted(place for place in edges if 0 <= place < length)
    last = edges[-4:]
    chosen = set(bucket.random.sample(edges, min(len(edges), count * 2 // 3))) | set(last)
    while len(chosen) < min(count, length):
        chosen.add(bucket.random.randrange(length))
    return sorted(chosen)


def stopping(bucket: Bucket, count: int):
    for mode in Upload.MODES:
        for length, frame in ((SMALL, 16 << 10), (LARGE, 64 << 10)):
            upload = Upload(mode, bucket.body(length), frame)
            for ending in ("FIN", "RST", "silence"):
                for place in places(bucket, upload, count // 2):
                    yield stop, bucket, mode, ending, upload, place
                for place in (-1, -2, -40):
                    yield stop, bucket, mode, ending, upload, place


def stopping_parts(bucket: Bucket, count: int) -> None:
    """The same for parts: none of them may be listed."""
    key = bucket.key()
    started = bucket.ask("POST", bucket.path(key), {"uploads": ""})
    query = {"partNumber": "1", "uploadId": started.element("UploadId")}
    cases = []
    for mode in Upload.MODES:
        upload = Upload(mode, bucket.body(LARGE), 64 << 10)
        for ending in ("FIN", "RST", "silence"):
            cases += [(stop, bucket, mode, ending, upload, place, query, key) for place in places(bucket, upload, count // 6)]
    bucket.group("parts that stop", cases)
    time.sleep(0.5)
    listed = bucket.ask("GET", bucket.path(key), {"uploadId": query["uploadId"]})
    if listed.status != 200 or b"<Part>" in listed.body:
        bucket.fail("parts that stop", f"parts are listed: {listed} {listed.body[:300]}")
    bucket.ask("DELETE", bucket.path(key), {"uploadId": query["uploadId"]})


# Asking first: who is refused has not sent the body, and knows whether the connection goes on.


def asking(bucket: Bucket, name: str, expected: set, headers: dict, keys: Keys) -> None:
    server = Server(bucket.server.endpoint, keys)
    key, body = bucket.key(), b"asked first"
    if "if-none-match" in headers:
        bucket.kept[key] = body
        bucket.ask("PUT", bucket.path(key), body=body)
    asks = {"expect": "100-continue", "content-length": "300000"}
    head, _ = Request("PUT", bucket.path(key), {}, asks | headers, UNSIGNED).head(server)
    connection = server.connect()
    connection.sendall(head)
    continued = connection.recv(12, 0 if hasattr(connection, "unwrap") else socket.MSG_PEEK).endswith(b"100")
    if continued:
        bucket.fail(name, "the body is asked for")
    if not hasattr(connection, "unwrap"):
        answer = receive(connection)
        bucket.refused(name, answer, expected)
        if answer.headers.get("connection", "").lower() != "close":
            # Then it must go on, with the next request in place of the body.
            head, _ = Request("HEAD", bucket.path("nothing")).head(bucket.server)
            try:
                connection.sendall(head)
                again = receive(connection, "HEAD")
            except OSError:
                again = CLOSED
            bucket.refused(f"{name}, and the connection that it said nothing of", again, {404})
    connection.close()
    if key not in bucket.kept:
        bucket.absent(name, key)


def refused_while_sending(bucket: Bucket, name: str, expected: set, headers: dict, keys: Keys) -> None:
    """Sends without asking. The server must take it, wanted or not: many clients read no answer before all is sent."""
    server, key, name = Server(bucket.server.endpoint, keys), bucket.key(), f"{name}, sent without asking"
    head, _ = Request("PUT", bucket.path(key), {}, {"content-length": "3000000"} | headers, UNSIGNED).head(server)
    with server.connect() as connection:
        try:
            connection.sendall(head)
            for _ in range(30):
                time.sleep(0.01)
                connection.sendall(bytes(100_000))
        except OSError as error:
            bucket.fail(name, f"cannot send: {error}")
        bucket.refused(name, receive(connection), expected)
    bucket.absent(name, key)


def asking_first(bucket: Bucket):
    keys = bucket.server.keys
    for name, expected, headers, who in (
        ("a key that exists", {"412 PreconditionFailed"}, {"if-none-match": "*"}, keys),
        ("another secret", {"403 SignatureDoesNotMatch"}, {}, Keys(keys.access, "x")),
        ("another access key", {"403 InvalidAccessKeyId"}, {}, Keys("X", keys.secret)),
        ("a malformed checksum", {"400 InvalidRequest"}, {"x-amz-checksum-crc32": "x"}, keys),
        ("too much", {"400 EntityTooLarge"}, {"content-length": str((5 << 30) + 1)}, keys),
    ):
        yield asking, bucket, name, expected, headers, who
        if not {"if-none-match", "content-length"} & set(headers):
            yield refused_while_sending, bucket, name, expected, headers, who


# Races: many write one key that none may overwrite.


def race(bucket: Bucket, clients: int, length: int, multipart: bool) -> None:
    name = f"{clients} clients, one key, {'multipart' if multipart else f'{length} bytes'}"
    key, before = bucket.key(), len(bucket.failures)
    bodies = [bucket.body(length) for _ in range(clients)]
    barrier = threading.Barrier(clients)
    answers: list[Answer] = [CLOSED] * clients

    def one(index: int) -> None:
        session = Session(bucket.server)
        condition = {"if-none-match": "*"}
        if multipart:
            upload = session.send(Request("POST", bucket.path(key), {"uploads": ""})).element("UploadId")
            part = session.send(Request("PUT", bucket.path(key), {"partNumber": "1", "uploadId": upload}), bodies[index])
            tag = part.headers.get("etag", "")
            xml = f"<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>{tag}</ETag></Part></CompleteMultipartUpload>"
            request, body = Request("POST", bucket.path(key), {"uploadId": upload}, condition), xml.encode()
        else:
            request, body = Request("PUT", bucket.path(key), {}, condition), bodies[index]
        barrier.wait(60)
        answers[index] = session.send(request, body)
        session.close()

    threads = [threading.Thread(target=one, args=(index,)) for index in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    won = [index for index, answer in enumerate(answers) if answer.status == 200 and b"<Error>" not in answer.body]
    if len(won) != 1 or any(answer.status not in (200, 409, 412) for answer in answers):
        bucket.fail(name, f"expected one 200 and 412 or 409 else, got {Counter(map(str, answers))}")
    else:
        bucket.kept[key] = bodies[won[0]]
        bucket.present(name, key, bodies[won[0]])
    bucket.done(name, 1, before)


# Dawdling: connections that send next to nothing, or nothing, while others work.


def dawdling(bucket: Bucket, idle: int, slow: int, seconds: float) -> None:
    name = f"{idle} idle and {slow} slow connections"
    before = len(bucket.failures)
    # A failure above may have left connections that are still being ended.
    quiet, puts = puts_for(bucket, 2)
    sockets = [bucket.server.connect() for _ in range(idle)]
    upload = Upload("unsigned", bucket.body(LARGE))
    heads, bodies = [], []
    for index in range(slow):
        key = bucket.key()
        head, frames = upload.wire(bucket.server, bucket.path(key))
        connection = bucket.server.connect()
        if index % 2:
            connection.sendall(head)
            bodies.append((connection, b"".join(frames), key))
        else:
            heads.append((connection, head, key))
    stopped = threading.Event()
    ended: Counter = Counter()

    def drip(kind: str, connections: list) -> None:
        at, alive = 0, connections
        while alive and not stopped.is_set():
            left = []
            for connection, data, key in alive:
                try:
                    connection.sendall(data[at : at + 1])
                    connection.settimeout(0)
                    if connection.recv(4096):
                        ended[f"{kind} answered"] += 1
                    else:
                        ended[f"{kind} closed"] += 1
                except (BlockingIOError, TimeoutError):
                    left.append((connection, data, key))
                except OSError as error:
                    # TLS says in its own words that nothing has come yet.
                    if type(error).__name__ in ("SSLWantReadError", "SSLWantWriteError"):
                        left.append((connection, data, key))
                    else:
                        ended[f"{kind} closed"] += 1
                connection.settimeout(5)
            at, alive = at + 1, left
            stopped.wait(0.5)

    drippers = [threading.Thread(target=drip, args=(*which,)) for which in (("head", heads), ("body", bodies))]
    for dripper in drippers:
        dripper.start()
    busy, more = puts_for(bucket, seconds)
    stopped.set()
    for dripper in drippers:
        dripper.join()
    for connection in sockets + [connection for connection, *_ in heads + bodies]:
        connection.close()
    rates = f"{puts / 2:.0f} PUT/s alone, {more / seconds:.0f} PUT/s beside them, slowest {busy * 1000:.0f} ms"
    if more / seconds < puts / 2 * 0.5 or busy > max(2, quiet * 20):
        bucket.fail(name, rates)
    # Half a byte a second brings no head in ten seconds.
    if ended["head closed"] + ended["head answered"] < len(heads):
        bucket.fail(name, f"slow heads are still waited for after {seconds:.0f} s: {dict(ended)} of {len(heads)}")
    for _, _, key in heads + bodies:
        bucket.absent(name, key)
    bucket.done(f"{name}: {rates}", slow, before)


def puts_for(bucket: Bucket, seconds: float, clients: int = 4) -> tuple[float, int]:
    """PUTs 4 KiB again and again. Returns the slowest one's time and their number."""
    until, slowest, counts = time.monotonic() + seconds, [0.0], [0]

    def client() -> None:
        session, body, key = Session(bucket.server), random.randbytes(4096), bucket.key()
        while time.monotonic() < until:
            started = time.monotonic()
            answer = session.send(Request("PUT", bucket.path(key)), body)
            if answer.status != 200:
                bucket.fail("PUT beside others", str(answer))
                break
            with bucket.lock:
                slowest[0] = max(slowest[0], time.monotonic() - started)
                counts[0] += 1
        session.close()
        with bucket.lock:
            bucket.kept[key] = body

    threads = [threading.Thread(target=client) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return slowest[0], counts[0]


def final(bucket: Bucket) -> None:
    """The bucket holds what was acknowledged and nothing else."""
    before = len(bucket.failures)
    time.sleep(1)
    found, token = set(), None
    while True:
        query = {"list-type": "2"} | ({"continuation-token": token} if token else {})
        listed = bucket.ask("GET", f"/{bucket.name}", query)
        found |= {part.split("</Key>")[0] for part in listed.body.decode().split("<Key>")[1:]}
        token = listed.element("NextContinuationToken")
        if not token:
            break
    if found != set(bucket.kept):
        extra, gone = sorted(found - set(bucket.kept)), sorted(set(bucket.kept) - found)
        bucket.fail("the bucket", f"never acknowledged: {extra[:9]}; lost: {gone[:9]}")
    for key, body in bucket.kept.items():
        bucket.present("the bucket", key, body)
        bucket.ask("DELETE", bucket.path(key))
    removed = bucket.ask("DELETE", f"/{bucket.name}")
    bucket.refused("the bucket's removal", removed, {204})
    bucket.done("what is left", len(found), before)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("endpoint")
    parser.add_argument("access")
    parser.add_argument("secret")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--places", type=int, default=60, help="where bodies stop, for each encoding and ending")
    arguments = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    print(f"hostile clients, --seed {arguments.seed}", flush=True)
    bucket = Bucket(Server(arguments.endpoint, Keys(arguments.access, arguments.secret)), arguments.seed)
    bucket.group("truth", [(truth, bucket, mode, length) for mode in Upload.MODES for length in (1, SMALL, LARGE)])
    bucket.group("bodies that stop", stopping(bucket, arguments.places))
    stopping_parts(bucket, arguments.places)
    bucket.group("lies", lies(bucket))
    bucket.group("asking first, or not", asking_first(bucket))
    for length, multipart in ((1000, False), (200_000, False), (1000, True)):
        race(bucket, 64, length, multipart)
    dawdling(bucket, 1000, 100, 14)
    final(bucket)
    if bucket.failures:
        print(f"{len(bucket.failures)} failures; the first: {bucket.failures[0]}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
