"""What is the same must be said to be: every form of upload, every pair of sides."""

import gzip
import hashlib
import json
import os
import subprocess
import time
import urllib.parse
from pathlib import Path

from boto import PART
from boto3.s3.transfer import TransferConfig
from commands import programs
from pairs import NAMES, NOT_IN_XML, Pair, fill, s3, sums
from report import Failed, Report, expect
from servers import Process
from tool import Found, Tool


class Agreements:
    """A server, and a tree and a bucket in every form."""

    def __init__(self, process: Process, program: Path, tools: Path, algorithms: list[str], report: Report, seed: int):
        self.name, self.server, self.home = process.name, process.server, process.directory
        self.tool, self.tools = Tool(program, self.server), tools
        self.algorithms, self.case, self.seed = algorithms, report.case, seed
        self.root = self.home / "agreements"
        self.pair = Pair(self.server, self.root / "tree", "same", seed)
        self.url = f"s3://{self.pair.bucket}"

    def run(self) -> None:
        for run in (
            self.made,
            self.tree_and_bucket,
            self.bucket_and_tree,
            self.bucket_and_itself,
            self.whole_and_in_parts,
            self.manifest,
            self.list_of_md5,
            self.inventory,
            self.state,
            self.listing,
            self.names_that_are_no_keys,
            self.defaults,
            *([self.encrypted] if self.name == "minio" else []),
        ):
            self.case(run.__name__.replace("_", " "), run)

    def same(self, found: Found) -> None:
        found.expect(dict.fromkeys(self.pair.names, "same"))

    def made(self) -> None:
        verified = [algorithm for algorithm in self.algorithms if self.pair.takes(algorithm)]
        expect(verified == self.algorithms, f"it verifies {verified} only")
        # versitygw takes names that XML cannot hold, and lists others in their place.
        names = NAMES if self.name == "versitygw" else NAMES + NOT_IN_XML
        refused = fill(self.pair, self.algorithms, names)
        expect(self.name != "manyhash" or not refused, f"refused {refused}")
        if refused:
            print(f"        {self.name} refuses {refused}")

    def tree_and_bucket(self) -> None:
        found = self.tool.verify(self.pair.tree, self.url)
        self.same(found)
        print(f"        {len(found.names)} names: {found.how()}; {found.said.splitlines()[-1]}")

    def bucket_and_tree(self) -> None:
        self.same(self.tool.verify(self.url, self.pair.tree))
        below = {name.removeprefix("none/") for name in self.pair.names if name.startswith("none/")}
        found = self.tool.verify(f"{self.url}/none/", self.pair.tree / "none", "--download")
        found.expect(dict.fromkeys(below, "same"))

    def bucket_and_itself(self) -> None:
        self.same(self.tool.verify(self.url, self.url + "/"))

    def whole_and_in_parts(self) -> None:
        """The same in another bucket, each object put whole with its algorithm."""
        client, other = self.pair.s3, "whole"
        client.create_bucket(Bucket=other)
        sure = set()
        for name in self.pair.names:
            body, algorithm = (self.pair.tree / name).read_bytes(), name.partition("/")[0].upper()
            known = algorithm if algorithm in self.algorithms else None
            client.put_object(Bucket=other, Key=name, Body=body, **sums(known, body))
            # What has the MD5 of its bytes on both sides, and what has its CRC.
            if name.split("/")[1] in ("single", "empty", "copied-empty") or name.startswith("names/"):
                sure.add(name)
            if name.split("/")[1] == "full_object" and not name.rpartition("/")[2].startswith("copied"):
                sure.add(name)
        found = self.tool.verify(self.url, f"s3://{other}")
        wrong = {name: state for name, state in found.states.items() if state not in ("same", "unverified")}
        unsure = {name for name in sure if found.states.get(name) != "same"}
        expect(not wrong and not unsure and found.states.keys() == self.pair.names, f"{wrong} {unsure} {found.said}")
        self.same(self.tool.verify(self.url, f"s3://{other}", "--download"))
        self.same(self.tool.verify(self.pair.tree, f"s3://{other}"))

    def manifest(self) -> None:
        manifest = self.root / "manifest"
        self.tool.call("manifest", "create", "--no-cache", self.pair.tree, "-o", manifest)
        self.same(self.tool.verify(self.pair.tree, manifest))
        self.same(self.tool.verify(manifest, self.url, "--download"))
        self.same(self.tool.verify(self.url, manifest, "--download"))
        found = self.tool.verify(manifest, self.url)
        wrong = [name for name, state in found.states.items() if state not in ("same", "unverified")]
        wrong += [name for name in self.pair.names if name.startswith("sha256/single") and found.states[name] != "same"]
        expect(not wrong, f"{wrong} {found.said}")

    def list_of_md5(self) -> None:
        """As coreutils writes it. What has parts has no MD5 of its bytes."""
        files = sorted(os.path.join(".", name) for name in self.pair.names)
        path = self.root / "list"
        with open(path, "wb") as output:
            subprocess.run(["md5sum", *files], cwd=self.pair.tree, stdout=output, check=True)
        found = self.tool.verify(path, self.url)
        wrong = [name for name, state in found.states.items() if state not in ("same", "unverified")]
        names = [name for name in self.pair.names if name.startswith("names/") or "single" in name]
        wrong += [name for name in names if found.states.get(name) != "same"]
        expect(not wrong, f"{wrong} {found.said}")
        self.same(self.tool.verify(path, self.url, "--download"))
        self.same(self.tool.verify(self.pair.tree, path))

    def inventory(self) -> None:
        """As S3 would write it."""
        pages = self.pair.s3.get_paginator("list_objects_v2").paginate(Bucket=self.pair.bucket)
        objects = [item for page in pages for item in page["Contents"]]
        rows = [
            f'"{self.pair.bucket}","{urllib.parse.quote_plus(item["Key"])}","{item["Size"]}",{item["ETag"]}\n'
            for item in objects
        ]
        directory = self.root / "inventory"
        directory.mkdir()
        data = gzip.compress("".join(rows).encode())
        (directory / "rows.csv.gz").write_bytes(data)
        files = [{"key": "a/data/rows.csv.gz", "size": len(data), "MD5checksum": hashlib.md5(data).hexdigest()}]
        manifest = {"fileFormat": "CSV", "fileSchema": "Bucket, Key, Size, ETag", "files": files}
        (directory / "manifest.json").write_text(json.dumps(manifest))
        self.same(self.tool.verify(directory / "manifest.json", self.url))
        found = self.tool.verify(self.pair.tree, directory / "manifest.json")
        # Nobody can be asked for the sizes of parts, and not all of them can be guessed.
        unknown = ("uneven", "strange")
        allowed = {name: {"same", "unverified"} if name.endswith(unknown) else {"same"} for name in self.pair.names}
        wrong = {name: state for name, state in found.states.items() if state not in allowed[name]}
        expect(not wrong and found.states.keys() == self.pair.names, f"{wrong} {found.said}")

    def state(self) -> None:
        """What was the same is not asked for again."""
        # A file of this moment may still change without its time telling.
        time.sleep(3.5)
        path = self.root / "state"
        self.same(self.tool.verify(self.pair.tree, self.url, "--state", path))
        found = self.tool.verify(self.pair.tree, self.url, "--state", path)
        self.same(found)
        asked = found.said.splitlines()[-1]
        expect("ListObjectsV2" in asked and "," not in asked, asked)

    def listing(self) -> None:
        """What boto3 is told."""
        done = self.tool.call("s3", "ls", "--checksums", "--json", self.url)
        records = [json.loads(line) for line in done.stdout.splitlines()]
        expect([record["name"] for record in records] == sorted(self.pair.names, key=str.encode), "names")
        for record in records:
            head = self.pair.s3.head_object(Bucket=self.pair.bucket, Key=record["name"], ChecksumMode="ENABLED")
            told = {field.removeprefix("Checksum"): value for field, value in head.items() if field.startswith("Checksum")}
            kind = told.pop("Type", None)
            printed = {item["algorithm"]: item["value"] for item in record.get("checksums", [])}
            is_same = (record["size"], record["etag"], printed) == (head["ContentLength"], head["ETag"].strip('"'), told)
            expect(is_same and (not kind or record.get("checksum_type", kind) == kind), f"{record}, and boto3: {head}")
        plain = self.tool.call("s3", "ls", "--checksums", self.url).stdout.decode()
        for line, record in zip(plain.removesuffix("\n").split("\n"), records, strict=True):
            checksum = next((f"{item['algorithm']}:{item['value']}" for item in record.get("checksums", [])), "-")
            name = record["name"]
            for plain_text, escaped in ("\\", "\\\\"), ("\n", "\\n"), ("\r", "\\r"):
                name = name.replace(plain_text, escaped)
            start = "\\" if name != record["name"] else ""
            due = f"{start}{record['size']:>14}  {record['etag']}  {checksum}  {name}"
            expect(line == due, f"{line!r}, not {due!r}")

    def names_that_are_no_keys(self) -> None:
        """They are missing from every bucket, and stop nothing."""
        path = os.fsencode(self.pair.tree) + b"/no-\xff-key"
        with open(path, "wb") as file:
            file.write(b"1")
        try:
            found = self.tool.verify(self.pair.tree, self.url)
        finally:
            os.remove(path)
        found.expect(dict.fromkeys(self.pair.names, "same") | {"no-\ufffd-key": "missing"})

    def defaults(self) -> None:
        """What clients upload as they are set up by themselves."""
        bucket, tree = "defaults", self.root / "defaults"
        tree.mkdir()
        client = s3(self.server)
        client.create_bucket(Bucket=bucket)
        bodies = {"empty": b"", "short": self.pair.body(100_000), "long": self.pair.body(20_000_000)}
        names = set()

        def file(name: str, form: str) -> Path:
            path = tree / name
            path.write_bytes(bodies[form])
            names.add(name)
            return path

        for form, body in bodies.items():
            client.put_object(Bucket=bucket, Key=f"boto3-put-{form}", Body=body)
            file(f"boto3-put-{form}", form)
            client.upload_file(str(file(f"boto3-{form}", form)), bucket, f"boto3-{form}")
            how = TransferConfig(multipart_threshold=PART, multipart_chunksize=7_000_000)
            client.upload_file(str(file(f"boto3-7-{form}", form)), bucket, f"boto3-7-{form}", Config=how)
        for program in programs(self.tools, self.server.endpoint, self.server.keys, None, self.home):
            for form in bodies:
                path = file(f"{program.name}-{form}", form)
                filled = [part.format(b=bucket, k=path.name, f=path) for part in program.start + program.put]
                environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "NO_PROXY": "*", **program.environment}
                done = subprocess.run(
                    filled, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
                )
                if done.returncode != 0:
                    raise Failed(f"{program.name}: {done.stdout.decode(errors='replace')[-2000:]}")
        found = self.tool.verify(tree, f"s3://{bucket}")
        found.expect(dict.fromkeys(names, "same"))
        print(f"        {len(found.names)} names: {found.how()}")

    def encrypted(self) -> None:
        """ETags that are no MD5s are not taken for differences."""
        pair = Pair(self.server, self.root / "encrypted", "encrypted", self.seed + 1)
        for encryption in ("AES256", "aws:kms"):
            at, how = encryption.replace(":", "-"), {"ServerSideEncryption": encryption}
            pair.put(f"{at}/plain", pair.body(5000), **how)
            pair.put_parts(f"{at}/parts", (PART, 5000), **how)
            pair.put(f"{at}/sha256", pair.body(5000), "SHA256", **how)
            pair.put_parts(f"{at}/parts-crc64", (PART, 5000), "CRC64NVME", "FULL_OBJECT", **how)
            pair.put_parts(f"{at}/parts-sha256", (PART, 5000), "SHA256", "COMPOSITE", **how)
        url = f"s3://{pair.bucket}"
        found = self.tool.verify(pair.tree, url)
        # Their checksums are of the bytes, whatever they are encrypted with.
        has_checksum = ("sha256", "crc64")
        allowed = {name: {"same"} if name.endswith(has_checksum) else {"same", "unverified"} for name in pair.names}
        wrong = {name: state for name, state in found.states.items() if state not in allowed[name]}
        expect(not wrong and found.states.keys() == pair.names, f"{wrong} {found.said}")
        found = self.tool.verify(pair.tree, url, "--download")
        found.expect(dict.fromkeys(pair.names, "same"))
        print(f"        {len(found.names)} names: {found.how()}")
