"""What differs must be found: differences made in trees, buckets and the servers' own files, and while it is compared."""

import base64
import mmap
import os
import re
import threading
from collections.abc import Callable
from pathlib import Path

from boto import COMPOSITE, FULL, PART
from pairs import ALGORITHMS, Pair, sums
from proxy import Proxy
from report import Report, expect
from servers import DidNotStart, Process
from tool import Found, Tool

# Forms of upload: the sizes of parts, none for an object that is put whole, and the checksum.
FORMS = {
    "single": ((), None, None),
    "single-sha256": ((), "SHA256", None),
    "single-crc32": ((), "CRC32", None),
    "parts": ((PART, 77_777), None, None),
    "uneven": ((PART, PART + 4099, 1), None, None),
    "parts-crc64": ((PART, 77_777), "CRC64NVME", FULL),
    "parts-sha256": ((PART, 77_777), "SHA256", COMPOSITE),
    "parts-crc32c": ((PART, 77_777), "CRC32C", COMPOSITE),
}

# Those of an answer of boto3 that are checksums.
FIELDS = {f"Checksum{algorithm}" for algorithm in ALGORITHMS}


def changed(body: bytes, at: int) -> bytes:
    return body[:at] + bytes([body[at] ^ 1]) + body[at + 1 :]


class Rewriting(Proxy):
    """Does something between the list and what is asked of one object."""

    def __init__(self, endpoint: str, act: Callable[[], None], times: int):
        self.act, self.times, self.lock = act, times, threading.Lock()
        super().__init__(endpoint)

    def sent(self, data: bytes) -> bytes:
        if re.match(rb"HEAD |GET /[^? ]+/[^? ]+", data):
            with self.lock:
                if self.times > 0:
                    self.times -= 1
                    self.act()
        return data


class Seeded:
    """Servers, each with a store by its name, and a pair of a tree and a bucket for each case."""

    def __init__(self, start: Callable[[str], Process], program: Path, report: Report, seed: int):
        self.start, self.program, self.case, self.seed = start, program, report.case, seed

    def run(self) -> None:
        with self.start("differences") as process:
            self.case("differences", lambda: self.differences(process))
            for name, times, act, allowed in (
                ("rewritten with other bytes", 1, self.other_bytes, {"differs"}),
                ("rewritten with other bytes again and again", 99, self.other_bytes, {"differs", "unverified"}),
                ("rewritten with the same in other parts", 1, self.other_parts, {"same"}),
                ("rewritten with the same in other parts again and again", 99, self.other_parts, {"same", "unverified"}),
                ("made right", 1, self.right_bytes, {"same", "unverified"}),
                ("deleted", 1, self.gone, {"missing", "unverified"}),
            ):
                self.case(f"{name} while it is compared", lambda a=(name, times, act, allowed): self.rewritten(process, *a))
        self.case("bytes changed in the store", self.planted_bytes)
        self.case("digests changed in the store", self.planted_digests)

    def pair(self, process: Process, name: str) -> Pair:
        self.seed += 1
        return Pair(process.server, process.directory / "seeded" / name / "tree", name, self.seed)

    def put(self, pair: Pair, name: str, form: str) -> bytes:
        sizes, algorithm, kind = FORMS[form]
        if sizes:
            return pair.put_parts(name, sizes, algorithm, kind)
        body = pair.body(50_021)
        pair.put(name, body, algorithm)
        return body

    def differences(self, process: Process) -> None:
        pair, tool, due = self.pair(process, "differences"), Tool(self.program, process.server), {}
        moment = 1_600_000_000
        for form in FORMS:
            self.put(pair, f"same/{form}", form)
            due[f"same/{form}"] = "same"

            def local(what: str, change: Callable[[bytes], bytes], form=form) -> None:
                """A difference of the file, whose time says nothing of it."""
                body = self.put(pair, f"{what}/{form}", form)
                pair.write(f"{what}/{form}", change(body), moment)
                due[f"{what}/{form}"] = "differs"

            local("first-byte", lambda body: changed(body, 0))
            local("middle-byte", lambda body: changed(body, len(body) // 2))
            local("last-byte", lambda body: changed(body, len(body) - 1))
            local("truncated", lambda body: body[:-1])
            local("grown", lambda body: body + b"\0")
            local("emptied", lambda body: b"")
            local("halves-swapped", lambda body: body[len(body) // 2 :] + body[: len(body) // 2])
            body = changed(self.put(pair, f"object/{form}", form), 1)
            sizes, algorithm, kind = FORMS[form]
            if sizes:
                pair.upload(f"object/{form}", body, sizes, algorithm, kind)
            else:
                pair.s3.put_object(Bucket=pair.bucket, Key=f"object/{form}", Body=body, **sums(algorithm, body))
            due[f"object/{form}"] = "differs"
            one, other = (pair.tree / f"swapped-{i}" / form for i in (1, 2))
            for path in (one, other):
                self.put(pair, f"{path.parent.name}/{form}", form)
                due[f"{path.parent.name}/{form}"] = "differs"
            bodies = one.read_bytes(), other.read_bytes()
            one.write_bytes(bodies[1])
            other.write_bytes(bodies[0])
            self.put(pair, f"deleted/{form}", form)
            pair.delete(f"deleted/{form}")
            due[f"deleted/{form}"] = "missing"
            self.put(pair, f"added/{form}", form)
            (pair.tree / f"added/{form}").unlink()
            due[f"added/{form}"] = "extra"
        url, manifest = f"s3://{pair.bucket}", pair.tree.parent / "manifest"
        tool.verify(pair.tree, url).expect(due)
        tool.verify(pair.tree, url, "--download").expect(due)
        other = {"missing": "extra", "extra": "missing"}
        tool.verify(url, pair.tree).expect({name: other.get(state, state) for name, state in due.items()})
        tool.call("manifest", "create", "--no-cache", pair.tree, "-o", manifest)
        tool.verify(manifest, url, "--download").expect(due)
        found = tool.verify(manifest, url)
        wrong = {name: state for name, state in found.states.items() if state not in (due[name], "unverified")}
        expect(not wrong, f"{wrong} {found.said}")

    def rewritten(self, process: Process, name: str, times: int, act: Callable, allowed: set[str]) -> None:
        pair = self.pair(process, name.replace(" ", "-"))
        # Its parts are not those of any client, so that their sizes are asked for.
        sizes = (PART + 4099, PART + 4099, 5)
        body = pair.put_parts("object", sizes)
        if act == self.right_bytes:
            pair.upload("object", changed(body, 9), sizes)
        proxy = Rewriting(process.server.endpoint, lambda: act(pair, body, sizes), times)
        found = Tool(self.program, process.server, proxy.endpoint).verify(pair.tree, f"s3://{pair.bucket}")
        expect(proxy.times < times, f"nothing was asked of the object: {found.names}")
        expect(found.states.get("object") in allowed, f"{found.names} {found.said}")

    def other_bytes(self, pair: Pair, body: bytes, sizes) -> None:
        pair.upload("object", changed(body, pair.random.randrange(len(body))), sizes)

    def right_bytes(self, pair: Pair, body: bytes, sizes) -> None:
        pair.upload("object", body, sizes)

    def other_parts(self, pair: Pair, body: bytes, _) -> None:
        first = PART + 4099 * pair.random.randrange(2, 200)
        pair.upload("object", body, (first, len(body) - first))

    def gone(self, pair: Pair, _body: bytes, _sizes) -> None:
        pair.delete("object")

    def few(self, process: Process, name: str) -> tuple[Pair, set[str]]:
        """A pair with two of each form, of which the second will be damaged."""
        pair = self.pair(process, name)
        for form in FORMS:
            for which in ("good", "damaged"):
                self.put(pair, f"{which}/{form}", form)
        return pair, {f"damaged/{form}" for form in FORMS}

    def expect(self, found: Found, pair: Pair, damaged: set[str]) -> None:
        """What is damaged must not be said to be the same, and all else must."""
        wrong = [name for name in pair.names if (found.states.get(name) == "same") == (name in damaged)]
        expect(not wrong and found.status != 0, f"{[(name, found.names.get(name)) for name in wrong]} {found.said}")

    def planted_bytes(self) -> None:
        """A bit of each changes in the server's own files. What the server says of the object stays as it was."""
        with self.start("planted-bytes") as process:
            pair, damaged = self.few(process, "planted-bytes")
            for name in damaged:
                body = (pair.tree / name).read_bytes()
                old, new = (bytes_of[20_000:20_064] for bytes_of in (body, changed(body, 20_007)))
                expect(replace(process.store, {old: new}) > 0, f"{name} is not in the server's files")
            manifest, tool = pair.tree.parent / "manifest", Tool(self.program, process.server)
            tool.call("manifest", "create", "--no-cache", "-a", "sha512", pair.tree, "-o", manifest)
            self.expect(tool.verify(manifest, f"s3://{pair.bucket}", "--download"), pair, damaged)

    def planted_digests(self) -> None:
        """A bit of each ETag and checksum changes in the server's own files while it does not run."""
        with self.start("planted-digests") as process:
            pair, damaged = self.few(process, "planted-digests")
            values = {}
            for name in damaged:
                head = pair.s3.head_object(Bucket=pair.bucket, Key=name, ChecksumMode="ENABLED")
                told = [value.partition("-")[0] for field, value in head.items() if field in FIELDS]
                etag = bytes.fromhex(head["ETag"].strip('"').partition("-")[0])
                values[name] = [etag, *map(base64.b64decode, told)]
        for name, digests in values.items():
            written = {}
            for old in digests:
                new = changed(old, 0)
                written |= {old.hex().encode(): new.hex().encode(), base64.b64encode(old): base64.b64encode(new)}
                # What is shorter may be elsewhere by chance.
                written |= {old: new} if len(old) >= 8 else {}
            expect(replace(process.store, written) > 0, f"the ETag of {name} is not in the server's files")
        try:
            with self.start("planted-digests") as process:
                tool = Tool(self.program, process.server)
                self.expect(tool.verify(pair.tree, f"s3://{pair.bucket}"), pair, damaged)
        except DidNotStart as refusal:
            print(f"        it does not start: {refusal}")


def replace(directory: Path, changes: dict[bytes, bytes]) -> int:
    """Replaces bytes in all files below and in their attributes, wherever they are. How often they were found."""
    count = 0
    for parent, _, files in os.walk(directory):
        for path in (os.path.join(parent, file) for file in files):
            for attribute in os.listxattr(path):
                value = os.getxattr(path, attribute)
                count += sum(old in value for old in changes)
                for old, new in changes.items():
                    value = value.replace(old, new)
                os.setxattr(path, attribute, value)
            if os.path.getsize(path) == 0:
                continue
            with open(path, "r+b") as opened, mmap.mmap(opened.fileno(), 0) as mapped:
                for old, new in changes.items():
                    at = mapped.find(old)
                    while at >= 0:
                        mapped[at : at + len(new)] = new
                        count += 1
                        at = mapped.find(old, at + len(new))
    return count
