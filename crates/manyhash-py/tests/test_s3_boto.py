"""Objects that boto3 uploads to a server: MANYHASH_S3_ENDPOINT, or else manyhash's own, if it is built."""

import os
import random
import re
import subprocess
from pathlib import Path

import manyhash.s3
import pytest
from manyhash.s3 import Outcome, verify

boto3 = pytest.importorskip("boto3")
botocore_config = pytest.importorskip("botocore.config")
s3transfer = pytest.importorskip("boto3.s3.transfer")

MIB = 1 << 20
KEY = "TESTS3", "no-secret-of-anyone"


def program():
    """The server of the workspace, as cargo builds it."""
    root = Path(__file__).parents[3]
    target = Path(os.environ.get("CARGO_TARGET_DIR", root / "target"))
    found = [target / profile / "manyhash" for profile in ("debug", "release")]
    return next((path for path in found if path.exists()), None)


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory):
    if endpoint := os.environ.get("MANYHASH_S3_ENDPOINT"):
        yield endpoint
        return
    manyhash = program()
    if manyhash is None:
        pytest.skip("no server: set MANYHASH_S3_ENDPOINT, or run cargo build -p manyhash-cli")
    directory = tmp_path_factory.mktemp("server")
    keys = directory / "keys.toml"
    keys.write_text('[[key]]\naccess = "{}"\nsecret = "{}"\n'.format(*KEY))
    command = [manyhash, "serve", directory / "store", "--listen", "127.0.0.1:0", "--admin", "none", "--keys", keys]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            lines = iter(server.stdout.readline, "")
            yield next(found[0] for line in lines if (found := re.search(r"http://127\.0\.0\.1:\d+", line)))
        finally:
            server.terminate()


@pytest.fixture(scope="module")
def client(endpoint):
    given = "MANYHASH_S3_ENDPOINT" in os.environ and "AWS_ACCESS_KEY_ID" in os.environ
    access, secret = (None, None) if given else KEY
    return boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id=access,
        aws_secret_access_key=secret,
        config=botocore_config.Config(s3={"addressing_style": "path"}, proxies={}),
    )


@pytest.fixture
def bucket(client):
    name = f"manyhash-{os.getpid()}-{random.randrange(1 << 40):x}"
    client.create_bucket(Bucket=name)
    yield name
    for page in client.get_paginator("list_objects_v2").paginate(Bucket=name):
        for listed in page.get("Contents", []):
            client.delete_object(Bucket=name, Key=listed["Key"])
    client.delete_bucket(Bucket=name)


@pytest.fixture
def files(tmp_path):
    """Files of several sizes and names, by their names."""
    contents = {"empty": b"", "short": b"abc", "a b/ü+&%20": b"1" * 1000}
    contents |= {"one part": bytes(8 * MIB), "parts": random.Random(1).randbytes(20 * MIB + 1)}
    for name, data in contents.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    return contents


def test_what_boto3_uploads(client, bucket, files, tmp_path):
    for name in files:
        client.upload_file(str(tmp_path / name), bucket, f"p/{name}")
        head = client.head_object(Bucket=bucket, Key=f"p/{name}")
        assert head["ETag"] == f'"{manyhash.s3.etag(tmp_path / name)}"'
    found = list(verify(tmp_path, f"s3://{bucket}/p", client=client))
    assert [outcome.name for outcome in found] == sorted(files)
    assert {outcome.state for outcome in found} == {"same"}
    # And every kind of difference.
    client.put_object(Bucket=bucket, Key="p/short", Body=b"abd")
    client.put_object(Bucket=bucket, Key="p/new", Body=b"")
    client.delete_object(Bucket=bucket, Key="p/empty")
    data = bytearray(files["parts"])
    data[10 * MIB] ^= 1
    (tmp_path / "parts").write_bytes(data)
    found = {outcome.name: outcome for outcome in verify(tmp_path, f"s3://{bucket}/p/", client=client)}
    states = {name: outcome.state for name, outcome in found.items() if outcome.state != "same"}
    assert states == {"empty": "missing", "new": "extra", "parts": "differs", "short": "differs"}
    assert found["new"] == Outcome("new", "extra", 0)


@pytest.mark.parametrize("part_size", [5 * MIB, 5_242_881, 16 * MIB])
@pytest.mark.parametrize("algorithm", [None, "CRC32", "CRC64NVME", "SHA256"])
def test_parts_of_any_size(client, bucket, files, tmp_path, part_size, algorithm):
    path, name = tmp_path / "parts", "parts"
    if algorithm == "CRC64NVME":
        pytest.importorskip("awscrt")
    config = s3transfer.TransferConfig(multipart_threshold=1, multipart_chunksize=part_size)
    arguments = {"ChecksumAlgorithm": algorithm} if algorithm else {}
    client.upload_file(str(path), bucket, name, Config=config, ExtraArgs=arguments)
    head = client.head_object(Bucket=bucket, Key=name, ChecksumMode="ENABLED")
    assert head["ETag"] == f'"{manyhash.s3.etag(path, part_size)}"'
    if algorithm:
        kind = head["ChecksumType"] == "COMPOSITE"
        expected = manyhash.s3.checksum(path, algorithm, part_size if kind else None, composite=kind)
        assert head[f"Checksum{algorithm}"] == expected
    if part_size % MIB == 0:
        assert manyhash.s3.guess(path, head["ETag"]) == part_size
    (outcome,) = (outcome for outcome in verify(tmp_path, f"s3://{bucket}", client=client) if outcome.name == name)
    assert outcome.state == "same", outcome


def test_two_buckets_of_different_parts(client, bucket, files, tmp_path):
    for part_size in (5 * MIB, 8 * MIB):
        config = s3transfer.TransferConfig(multipart_threshold=1, multipart_chunksize=part_size)
        client.upload_file(str(tmp_path / "parts"), bucket, f"{part_size}/x", Config=config)
    sides = [f"s3://{bucket}/{5 * MIB}", f"s3://{bucket}/{8 * MIB}"]
    assert {outcome.state for outcome in verify(*sides, client=client, download=True)} == {"same"}


def test_no_such_bucket(client, tmp_path):
    with pytest.raises(client.exceptions.NoSuchBucket):
        list(verify(tmp_path, "s3://manyhash-no-such-bucket", client=client))


def test_nobody_there(tmp_path):
    client = boto3.client(
        "s3",
        endpoint_url="http://127.0.0.1:1",
        region_name="us-east-1",
        aws_access_key_id="a",
        aws_secret_access_key="b",
        config=botocore_config.Config(retries={"total_max_attempts": 1}, proxies={}),
    )
    exceptions = pytest.importorskip("botocore.exceptions")
    with pytest.raises(exceptions.EndpointConnectionError):
        list(verify(tmp_path, "s3://bucket", client=client))
