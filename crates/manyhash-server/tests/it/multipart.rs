//! Uploads in parts.

use crate::client::{Outgoing, Running, noise};
use manyhash::Algorithm;
use manyhash_s3::checksum::{Checksum, ChecksumAlgorithm, composite, digest};
use manyhash_s3::etag;
use std::path::Path;

const PART: usize = 5 << 20;

struct Upload<'a> {
    server: &'a Running,
    id: String,
}

impl<'a> Upload<'a> {
    async fn begin(server: &'a Running, headers: &[(&'static str, &str)]) -> Self {
        let request = server.request("POST", "/bucket/k?uploads=");
        let request = headers.iter().fold(request, |request, (name, value)| request.header(name, value));
        let id = request.send().await.expect(200).element("UploadId");
        Upload { server, id }
    }

    fn part(&self, number: usize, body: &[u8]) -> Outgoing<'a> {
        self.server.request("PUT", &format!("/bucket/k?partNumber={number}&uploadId={}", self.id)).body(body)
    }

    async fn put(&self, number: usize, body: &[u8]) -> String {
        self.part(number, body).send().await.expect(200).header("etag").unwrap().to_owned()
    }

    fn complete(&self, parts: &[(usize, &str, Option<Checksum>)]) -> Outgoing<'a> {
        let part = |(number, etag, checksum): &(usize, &str, Option<Checksum>)| {
            let checksum = checksum.map_or(String::new(), |checksum| {
                let element = checksum.algorithm().element();
                format!("<{element}>{checksum}</{element}>")
            });
            format!("<Part><PartNumber>{number}</PartNumber><ETag>{etag}</ETag>{checksum}</Part>")
        };
        let parts: String = parts.iter().map(part).collect();
        let xml = format!("<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>");
        self.server.request("POST", &format!("/bucket/k?uploadId={}", self.id)).body(xml.as_bytes())
    }
}

fn md5(bytes: &[u8]) -> [u8; 16] {
    manyhash::digest(Algorithm::Md5, bytes).as_bytes().try_into().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn parts_in_any_order_make_an_object() {
    let server = Running::start().await;
    let bodies = [noise(PART, 1), noise(PART + 1, 2), noise(1000, 3)];
    let upload = Upload::begin(&server, &[("content-type", "text/x")]).await;
    let third = upload.put(30, &bodies[2]).await;
    upload.put(1, b"replaced").await;
    let first = upload.put(1, &bodies[0]).await;
    let second = upload.put(2, &bodies[1]).await;
    upload.put(31, b"not listed").await;

    let listed = server.get(&format!("/bucket/k?uploadId={}&max-parts=2", upload.id)).await.expect(200);
    assert_eq!((listed.element("NextPartNumberMarker"), listed.element("IsTruncated")), ("2".into(), "true".into()));
    assert!(server.get("/bucket?uploads").await.expect(200).text().contains(&upload.id));
    server.get("/bucket/k").await.refused(404, "NoSuchKey");

    let [first, second, third] = [&*first, &*second, &*third];
    upload.complete(&[(2, second, None), (1, first, None)]).send().await.refused(400, "InvalidPartOrder");
    upload.complete(&[(1, second, None)]).send().await.refused(400, "InvalidPart");
    upload.complete(&[(1, first, None), (3, third, None)]).send().await.refused(400, "InvalidPart");
    upload.complete(&[(30, third, None), (31, "\"x\"", None)]).send().await.expect(400);
    let parts = [(1, first, None), (2, second, None), (30, third, None)];
    upload.complete(&parts).header("x-amz-mp-object-size", "5").send().await.refused(400, "InvalidRequest");
    let expected = format!("&quot;{}&quot;", etag::multipart(&bodies.each_ref().map(|body| md5(body))));
    let completed = upload.complete(&parts).send().await.expect(200);
    assert_eq!(completed.element("ETag").replace('"', "&quot;"), expected);
    // Whoever did not hear of it asks again.
    upload.complete(&parts).send().await.expect(200);

    let whole = bodies.concat();
    let got = server.get("/bucket/k").await.expect(200);
    assert!(got.body == whole && got.header("content-type") == Some("text/x"));
    let second = server.get("/bucket/k?partNumber=2").await.expect(206);
    assert!(second.body == bodies[1] && second.header("x-amz-mp-parts-count") == Some("3"));
    let range = format!("bytes={}-{}", PART - 10, 2 * PART + 10);
    let across = server.request("GET", "/bucket/k").header("range", &range).send().await.expect(206);
    assert!(across.body == whole[PART - 10..=2 * PART + 10]);
    server.get("/bucket/k?partNumber=4").await.refused(416, "InvalidPartNumber");
    let uploads = server.get("/bucket?uploads").await.expect(200).text();
    assert!(!uploads.contains(&upload.id));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_that_is_too_small_is_refused_at_the_end() {
    let server = Running::start().await;
    let upload = Upload::begin(&server, &[]).await;
    let [first, second] = [upload.put(1, b"small").await, upload.put(2, b"last").await];
    let completed = upload.complete(&[(1, &first, None), (2, &second, None)]).send().await;
    completed.refused(400, "EntityTooSmall");
    upload.complete(&[(2, &second, None)]).send().await.expect(200);
    assert_eq!(server.get("/bucket/k").await.expect(200).body, b"last");
}

#[tokio::test(flavor = "multi_thread")]
async fn checksums_of_parts_make_that_of_the_object() {
    let server = Running::start().await;
    let bodies = [noise(PART, 4), noise(77, 5)];
    let whole = bodies.concat();
    for algorithm in ChecksumAlgorithm::ALL {
        for kind in ["COMPOSITE", "FULL_OBJECT"] {
            let kind_headers = [("x-amz-checksum-algorithm", algorithm.name()), ("x-amz-checksum-type", kind)];
            if !algorithm.allows(kind.parse().unwrap()) {
                let request = server.request("POST", "/bucket/k?uploads=");
                let request = kind_headers.iter().fold(request, |request, (name, value)| request.header(name, value));
                request.send().await.refused(400, "InvalidRequest");
                continue;
            }
            let upload = Upload::begin(&server, &kind_headers).await;
            let checksums = bodies.each_ref().map(|body| digest(algorithm, body));
            let wrong = upload.part(1, &bodies[0]).header(algorithm.header(), digest(algorithm, b"x").to_string());
            wrong.send().await.refused(400, "BadDigest");
            let mut etags = Vec::new();
            for (number, (body, checksum)) in bodies.iter().zip(checksums).enumerate() {
                let part = upload.part(number + 1, body).header(algorithm.header(), checksum.to_string());
                etags.push(part.send().await.expect(200).header("etag").unwrap().to_owned());
            }
            let parts = [(1, &*etags[0], Some(checksums[0])), (2, &*etags[1], Some(checksums[1]))];
            let expected = match kind {
                "COMPOSITE" => composite(algorithm, &checksums).unwrap().to_string(),
                _ => digest(algorithm, &whole).to_string(),
            };
            let lie = upload.complete(&parts).header(algorithm.header(), digest(algorithm, b"x").to_string());
            lie.send().await.refused(400, "BadDigest");
            let swapped = [(1, &*etags[0], Some(checksums[1])), parts[1]];
            upload.complete(&swapped).send().await.refused(400, "InvalidPart");
            let completed = upload.complete(&parts).send().await.expect(200);
            assert_eq!(completed.element(algorithm.element()), expected, "{algorithm} {kind}");
            let head = server.request("HEAD", "/bucket/k").header("x-amz-checksum-mode", "ENABLED").send().await;
            assert_eq!(head.header(algorithm.header()), Some(&*expected));
            let attributes = server.request("GET", "/bucket/k?attributes");
            let attributes =
                attributes.header("x-amz-object-attributes", "Checksum,ObjectParts,ObjectSize").send().await;
            let attributes = attributes.expect(200);
            assert_eq!(attributes.element("ObjectSize"), whole.len().to_string());
            assert_eq!(attributes.element(algorithm.element()), expected.trim_end_matches("-2"));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn parts_are_copied_and_uploads_aborted() {
    let server = Running::start().await;
    let source = noise(300_000, 6);
    server.put("/bucket/source", &source).await.expect(200);
    let upload = Upload::begin(&server, &[]).await;
    let copy = |range: &str| {
        upload.part(1, b"").header("x-amz-copy-source", "bucket/source").header("x-amz-copy-source-range", range)
    };
    copy("bytes=1-300000").send().await.refused(400, "InvalidArgument");
    copy("bytes=5-1").send().await.refused(400, "InvalidArgument");
    let etag = copy("bytes=1-250000").send().await.expect(200).element("ETag");
    assert!(etag.contains(&manyhash::digest(Algorithm::Md5, &source[1..=250_000]).to_string()));
    upload.complete(&[(1, &etag, None)]).send().await.expect(200);
    assert!(server.get("/bucket/k").await.expect(200).body == source[1..=250_000]);

    let upload = Upload::begin(&server, &[]).await;
    upload.put(1, b"x").await;
    let abort = || server.request("DELETE", &format!("/bucket/k?uploadId={}", upload.id));
    abort().send().await.expect(204);
    abort().send().await.refused(404, "NoSuchUpload");
    upload.part(1, b"x").send().await.refused(404, "NoSuchUpload");
    upload.part(0, b"x").send().await.refused(400, "InvalidArgument");
    upload.part(10_001, b"x").send().await.refused(400, "InvalidArgument");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_that_cannot_be_compared_is_refused() {
    let server = Running::start().await;
    let upload = Upload::begin(&server, &[]).await;
    let etag = upload.put(1, b"body").await;
    let [right, wrong] = [&b"body"[..], b"other"].map(|text| digest(ChecksumAlgorithm::Sha256, text));
    let parts = [(1, &*etag, None)];
    let whole = upload.complete(&parts).header("x-amz-checksum-sha256", right.to_string());
    whole.send().await.refused(400, "InvalidRequest");
    let kind = upload.complete(&parts).header("x-amz-checksum-type", "COMPOSITE");
    kind.send().await.refused(400, "InvalidRequest");
    upload.complete(&[(1, &*etag, Some(wrong))]).send().await.refused(400, "InvalidPart");
    let sha1 = digest(ChecksumAlgorithm::Sha1, b"body");
    upload.complete(&[(1, &*etag, Some(sha1))]).send().await.refused(400, "InvalidPart");
    server.get("/bucket/k").await.refused(404, "NoSuchKey");
    upload.complete(&[(1, &*etag, Some(right))]).send().await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_changed_on_the_disk_is_not_copied_with_a_new_checksum() {
    let server = Running::start().await;
    // A file, and a record of a segment.
    let bodies = [noise(PART, 11), noise(1000, 12)];
    let upload = Upload::begin(&server, &[]).await;
    let [first, second] = [upload.put(1, &bodies[0]).await, upload.put(2, &bodies[1]).await];
    upload.complete(&[(1, &first, None), (2, &second, None)]).send().await.expect(200);
    server.put("/bucket/whole", &noise(PART, 11)).await.expect(200);

    let copy = |source: &str| {
        let request = server.request("PUT", "/bucket/copy").header("x-amz-copy-source", format!("bucket/{source}"));
        request.header("x-amz-checksum-algorithm", "SHA1")
    };
    for source in ["k", "whole"] {
        copy(source).send().await.expect(200);
        server.request("DELETE", "/bucket/copy").send().await.expect(204);
    }
    let into = Upload::begin(&server, &[]).await;
    let part = |range: Option<&str>| {
        let request = into.part(1, b"").header("x-amz-copy-source", "bucket/k");
        range.into_iter().fold(request, |request, range| request.header("x-amz-copy-source-range", range))
    };
    part(None).send().await.expect(200);

    change_a_byte(&server.directory.path().join("objects"), &bodies[0]);
    for source in ["k", "whole"] {
        copy(source).send().await.refused(500, "InternalError");
        server.get("/bucket/copy").await.refused(404, "NoSuchKey");
    }
    part(None).send().await.refused(500, "InternalError");
    part(Some("bytes=0-5242880")).send().await.refused(500, "InternalError");
    part(Some("bytes=5242880-5243879")).send().await.expect(200);

    change_a_byte(&server.directory.path().join("objects"), &bodies[1]);
    part(Some("bytes=5242880-5243879")).send().await.refused(500, "InternalError");
    part(Some("bytes=5242879-5243879")).send().await.refused(500, "InternalError");
}

/// Changes a byte of some content, wherever in a directory it lies.
fn change_a_byte(directory: &Path, content: &[u8]) {
    let start = &content[..64];
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            change_a_byte(&path, content);
            continue;
        }
        let mut bytes = std::fs::read(&path).unwrap();
        if let Some(at) = bytes.windows(start.len()).position(|window| window == start) {
            bytes[at + content.len() / 2] ^= 1;
            // In place: the server has the file open.
            let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
            std::os::unix::fs::FileExt::write_all_at(&file, &bytes, 0).unwrap();
        }
    }
}
