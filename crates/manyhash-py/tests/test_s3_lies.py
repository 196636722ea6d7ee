"""Answers of a client that are none, or that lie."""

import pytest
from manyhash.s3 import verify

from s3_memory import Object, refuse
from test_s3_verify import DATA, OTHER, broken, bucket, one, tree


def with_fields(**fields):
    """Answers with some fields replaced, or left out for None."""

    def change(arguments, answer):
        answer = {**answer(), **fields}
        return {name: value for name, value in answer.items() if value is not None}

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (broken(None, 0), "ended early"),
        (with_fields(ContentLength=99_999, ContentRange="bytes 0-99998/100000"), "more bytes than it announced"),
        (with_fields(ContentRange="bytes 1-100000/100001"), "another range"),
        (with_fields(ContentRange=None, ContentLength=100_001), "another range"),
        (with_fields(ContentLength=None), "has no ContentLength"),
        (with_fields(ContentLength="many"), "has 'many' for ContentLength"),
        (with_fields(ContentLength=-1), "has -1 for ContentLength"),
        (with_fields(Body=None), "has no Body"),
        (with_fields(Body=7), "no attribute 'read'"),
        (lambda arguments, answer: "text", "is a str, not a dict"),
        (lambda arguments, answer: None, "is a NoneType, not a dict"),
    ],
)
def test_bodies_that_are_none(tmp_path, change, words):
    memory = bucket({"x": Object(DATA, encryption="aws:kms")})
    memory.changes["GetObject"] = change
    outcome = one(tmp_path, memory, download=True)
    assert outcome.state == "unverified"
    assert words in outcome.reason


def test_all_bytes_are_the_range_that_was_asked_for(tmp_path):
    memory = bucket({"x": Object(DATA, encryption="aws:kms")})
    memory.changes["GetObject"] = with_fields(ContentRange=None)
    assert one(tmp_path, memory, download=True).state == "same"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"ContentLength": None}, "the answer to HeadObject has no ContentLength"),
        ({"ContentLength": 1.5}, "has 1.5 for ContentLength"),
        ({"ContentLength": 1 << 64}, "has 18446744073709551616 for ContentLength"),
        ({"ETag": 7}, "has 7 for ETag"),
        ({"ETag": "\ud800"}, "for ETag"),
        ({"ChecksumSHA256": "AAAA"}, "ChecksumSHA256: a SHA256 checksum has 32 bytes, not 3"),
        ({"ChecksumCRC32": "!" * 100_000}, "ChecksumCRC32: not a CRC32 checksum in base64"),
        ({"ChecksumType": []}, "has [] for ChecksumType"),
        ({"PartsCount": -1}, "has -1 for PartsCount"),
        ({"ServerSideEncryption": {}}, "has {} for ServerSideEncryption"),
    ],
)
def test_heads_that_are_none(tmp_path, fields, words):
    memory = bucket({"x": OTHER, "y": b"y"})
    memory.changes["HeadObject"] = with_fields(**fields)
    root = tree(tmp_path, {"x": DATA, "y": b"y"})
    outcome, after = verify(root, "s3://bucket", client=memory)
    assert outcome.state == "unverified"
    assert outcome.reason.startswith("s3://bucket/x: ") and words in outcome.reason
    assert len(outcome.reason) < 300
    assert after.state == "same"


@pytest.mark.parametrize(
    "fields",
    [
        {"Checksum": 7},
        {"Checksum": {"ChecksumSHA256": "x"}},
        {"ObjectParts": []},
        {"ObjectParts": {"IsTruncated": True}},
        {"ObjectParts": {"IsTruncated": "yes"}},
        {"ObjectParts": {"Parts": [{}]}},
        {"ObjectParts": {"Parts": [{"PartNumber": 1, "Size": -1}]}},
        {"ObjectParts": {"Parts": {}}},
        {"ObjectParts": {"TotalPartsCount": 1 << 40}},
    ],
)
def test_attributes_that_are_none(tmp_path, fields):
    memory = bucket({"x": Object(DATA, 17_000, ("SHA256", "COMPOSITE"), "aws:kms")})
    memory.changes["HeadObject"] = lambda arguments, answer: answer() if "PartNumber" not in arguments else refuse(501)
    memory.changes["GetObjectAttributes"] = with_fields(**fields)
    outcome = one(tmp_path, memory)
    assert outcome.state == "unverified"
    assert "the answer to GetObjectAttributes has" in outcome.reason


def listed(key, size=1):
    return {"Key": key, "Size": size, "ETag": '"x"'}


@pytest.mark.parametrize(
    ("pages", "words"),
    [
        ([{"IsTruncated": True}], "has more objects, and does not say"),
        ([{"IsTruncated": "true"}], "has 'true' for IsTruncated"),
        ([{"Contents": {}}], "has {} for Contents"),
        ([{"Contents": [7]}], "has 7 for Contents"),
        ([{"Contents": [{"Key": "x"}]}], "has no Size"),
        ([{"Contents": [{"Size": 1}]}], "has no Key"),
        ([{"Contents": [listed("\ud800")]}], "for Key"),
        ([{"Contents": [listed("x", "1")]}], "has '1' for Size"),
        ([{"Contents": [listed("x") | {"ChecksumAlgorithm": "CRC32"}]}], "has 'CRC32' for ChecksumAlgorithm"),
        ([{"Contents": [listed("z"), listed("y")]}], "not sorted"),
        ([{"Contents": [listed("y"), listed("y")]}], "not sorted"),
        ([{"Contents": [listed("y")], "IsTruncated": True, "NextContinuationToken": token} for token in "12"], "not sorted"),
        ([{"IsTruncated": True, "NextContinuationToken": "1"}] * 2, "the same page of its list again"),
        ([[]], "is a list, not a dict"),
    ],
)
def test_lists_that_are_none(tmp_path, pages, words):
    memory = bucket({"x": b"1"})
    pages = iter(pages)
    memory.changes["ListObjectsV2"] = lambda arguments, answer: next(pages)
    found = verify(tree(tmp_path, {"x": b"1"}), "s3://bucket", client=memory)
    with pytest.raises(RuntimeError) as error:
        list(found)
    assert words in str(error.value)
    assert list(found) == []


def test_lists_of_other_keys(tmp_path):
    memory = bucket({"x": b"1"})
    memory.changes["ListObjectsV2"] = lambda arguments, answer: {"Contents": [listed("other")]}
    with pytest.raises(RuntimeError, match="listed `other`, which does not begin with `prefix/`"):
        list(verify(tmp_path, "s3://bucket/prefix", client=memory))


def test_names_of_algorithms_that_are_not_known(tmp_path):
    memory = bucket({"x": DATA})

    def change(arguments, answer):
        page = answer()
        page["Contents"][0] |= {"ChecksumAlgorithm": ["NEWEST"], "ChecksumType": "NEWEST", "Newest": object()}
        return page

    memory.changes["ListObjectsV2"] = change
    assert one(tmp_path, memory).state == "same"


