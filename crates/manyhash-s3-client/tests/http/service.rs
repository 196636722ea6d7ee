//! Every operation against the server of this workspace.

use crate::setup::{Running, noise};
use bytes::Bytes;
use futures_util::TryStreamExt;
use http::HeaderMap;
use manyhash_s3::checksum::{ChecksumAlgorithm, ChecksumType, digest};
use manyhash_s3::etag::{self, ETag};
use manyhash_s3::xml::{ChecksumElements, CompletedPart};
use manyhash_s3_client::http::{Client, Completion, Content, Error, Operation, Proof};
use manyhash_s3_client::remote::{HeadRequest, ReadRequest, Remote, RemoteErrorKind};
use std::ops::Range;

const PART: usize = 5 << 20;

fn md5(bytes: &[u8]) -> [u8; 16] {
    manyhash::digest(manyhash::Algorithm::Md5, bytes).as_bytes().try_into().unwrap()
}

async fn put(client: &Client, key: &str, body: &[u8]) {
    let content = Content::from(body.to_vec());
    client.put_object(key, &content, Proof::None, &HeaderMap::new()).await.unwrap();
}

async fn read(client: &Client, key: &str, range: Option<Range<u64>>) -> Vec<u8> {
    let request = ReadRequest { range, ..ReadRequest::default() };
    let pieces: Vec<Bytes> = client.get_object(key, request).await.unwrap().try_collect().await.unwrap();
    pieces.concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn names_of_every_kind() {
    let server = Running::start(None).await;
    let client = server.client(|_| {}).await;
    let mut names = vec![
        "plain",
        "a b",
        " a",
        "a ",
        "a//b",
        "/a",
        "a/",
        "a/../b",
        "a/./b",
        "...",
        "ä",
        "a\u{308}",
        "日本/語",
        "😀",
        "\u{feff}",
        "a+b",
        "a%2Bb",
        "%",
        "%zz",
        "a?b=c",
        "a#b",
        "&<>\"'",
        "]]>",
        "a\nb",
        "a\rb",
        "a\tb",
        "\u{1}",
        "\u{7f}",
        "~!@$^*()_-=",
        "\u{fffd}",
        "\u{2028}",
        "a=b&prefix=c",
    ];
    let long = "ü".repeat(512);
    names.push(&long);
    for name in &names {
        put(&client, name, name.as_bytes()).await;
    }
    let mut listed: Vec<String> =
        client.list_objects("", None).await.unwrap().objects.into_iter().map(|object| object.key).collect();
    assert!(listed.is_sorted());
    names.sort_unstable();
    assert_eq!(listed, names);
    listed.clear();
    for name in names {
        assert_eq!(read(&client, name, None).await, name.as_bytes(), "{name:?}");
        let head = client.head_object(name, HeadRequest::default()).await.unwrap();
        assert_eq!(head.content_length, name.len() as u64);
        let listed = client.list_objects(name, None).await.unwrap().objects;
        assert!(
            listed.iter().any(|object| object.key == name) && listed.iter().all(|object| object.key.starts_with(name))
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_have_pages() {
    let server = Running::start(None).await;
    let client = server.client(|_| {}).await;
    for i in 0..1003 {
        put(&client, &format!("a/{i:04}"), b"x").await;
    }
    put(&client, "b", b"").await;
    let (mut keys, mut continuation, mut pages) = (Vec::new(), None, 0);
    loop {
        let page = client.list("a/", continuation.as_deref()).await.unwrap();
        keys.extend(page.objects.into_iter().map(|object| object.key));
        pages += 1;
        continuation = page.continuation;
        if continuation.is_none() {
            break;
        }
    }
    assert_eq!((keys.len(), pages), (1003, 2));
    assert_eq!((&*keys[0], &*keys[1002]), ("a/0000", "a/1002"));
    let listed = client.list_objects("b", None).await.unwrap().objects;
    assert_eq!(listed[0].etag, Some(ETag::new(etag::single(&md5(b"")))));
    assert_eq!(listed[0].checksum_algorithms, [ChecksumAlgorithm::Crc64Nvme]);
    assert_eq!(client.counts().of(Operation::ListObjectsV2), 3);
    // One made the bucket.
    assert_eq!(client.counts().of(Operation::PutObject), 1005);
    assert_eq!((client.counts().total(), client.counts().retries), (1008, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_in_one_upload() {
    let server = Running::start(None).await;
    let client = server.client(|_| {}).await;
    let body = noise(100_000, 1);
    let mut headers = HeaderMap::new();
    headers.insert("x-amz-meta-colour", "green".parse().unwrap());
    headers.insert("if-none-match", "*".parse().unwrap());
    let checksum = digest(ChecksumAlgorithm::XxHash3, &body);
    let content = Content::from(body.clone());
    let written = client.put_object("k", &content, Proof::Header(checksum), &headers).await.unwrap();
    assert_eq!(written.etag, Some(ETag::new(etag::single(&md5(&body)))));
    assert_eq!(written.checksums[0].checksum, checksum);
    let error = client.put_object("k", &content, Proof::None, &headers).await.unwrap_err();
    assert_eq!(error.refusal().unwrap().code, "PreconditionFailed");

    let request = HeadRequest { checksums: true, ..HeadRequest::default() };
    let head = client.head_object("k", request).await.unwrap();
    assert_eq!((head.content_length, head.size), (100_000, Some(100_000)));
    assert_eq!((head.checksums[0].checksum, head.checksum_type), (checksum, Some(ChecksumType::FullObject)));
    assert_eq!(head.metadata, [("colour".to_owned(), "green".to_owned())]);
    assert!(head.modified.is_some() && head.etag == written.etag);
    assert!(client.head_object("k", HeadRequest::default()).await.unwrap().checksums.is_empty());

    for range in [0..1, 0..100_000, 99_999..100_000, 500..70_000, 50_000..200_000] {
        let bytes = range.start as usize..body.len().min(range.end as usize);
        assert!(read(&client, "k", Some(range.clone())).await == body[bytes], "{range:?}");
    }
    assert!(read(&client, "k", None).await == body);
    let mut request = ReadRequest { if_match: written.etag, ..ReadRequest::default() };
    assert!(client.read("k", request.clone()).await.is_ok());
    request.if_match = Some(ETag::new("other"));
    let error = client.read("k", request).await.err().unwrap();
    assert_eq!(error.kind(), RemoteErrorKind::Changed, "{error}");
    for error in [
        client.read("none", ReadRequest::default()).await.err().unwrap(),
        client.head("none", HeadRequest::default()).await.unwrap_err(),
        client.attributes("none", None).await.unwrap_err(),
        client.with_bucket("other").unwrap().list("", None).await.unwrap_err(),
    ] {
        assert_eq!(error.kind(), RemoteErrorKind::NotFound, "{error}");
        assert!(error.to_string().contains("s3://bucket/none") || error.to_string().contains("s3://other"), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_in_parts() {
    let server = Running::start(None).await;
    let client = server.client(|_| {}).await;
    let bodies = [noise(PART, 1), noise(PART + 1, 2), noise(1000, 3)];
    let algorithm = ChecksumAlgorithm::Sha1;
    let kind = Some((algorithm, ChecksumType::Composite));
    let id = client.create_multipart_upload("a/ä", kind, &HeaderMap::new()).await.unwrap();
    let mut parts = Vec::new();
    for (body, number) in bodies.iter().zip([1, 2, 30]) {
        let content = Content::from(body.clone());
        let written = client.upload_part("a/ä", &id, number, &content, Proof::Trailer(algorithm)).await.unwrap();
        assert_eq!(written.checksums[0].checksum, digest(algorithm, body));
        let mut part = CompletedPart::default();
        (part.part_number, part.etag) = (number as i32, written.etag.unwrap());
        part.checksums = ChecksumElements::from(written.checksums[0]);
        parts.push(part);
    }

    let listed = client.list_parts("a/ä", &id, None).await.unwrap();
    assert_eq!(listed.parts.iter().map(|part| part.part_number).collect::<Vec<_>>(), [1, 2, 30]);
    assert_eq!(client.list_parts("a/ä", &id, Some(2)).await.unwrap().parts.len(), 1);
    let uploads = client.list_multipart_uploads("a/", None).await.unwrap().uploads;
    assert_eq!((uploads.len(), &*uploads[0].key, &uploads[0].upload_id), (1, "a/ä", &id));
    assert!(client.list_multipart_uploads("", Some(("a/ä", &id))).await.unwrap().uploads.is_empty());

    let mut completion = Completion::default();
    (completion.parts, completion.size) = (parts, Some(5));
    let error = client.complete_multipart_upload("a/ä", &id, completion.clone()).await.unwrap_err();
    assert_eq!(error.refusal().unwrap().code, "InvalidRequest");
    completion.size = Some(2 * PART as u64 + 1001);
    let done = client.complete_multipart_upload("a/ä", &id, completion).await.unwrap();
    let whole = etag::multipart(&bodies.each_ref().map(|body| md5(body)));
    assert_eq!(done.etag, ETag::new(&*whole));

    let mut request = HeadRequest { part_number: Some(2), checksums: true };
    let head = client.head_object("a/ä", request).await.unwrap();
    assert_eq!((head.content_length, head.parts_count), (PART as u64 + 1, Some(3)));
    assert_eq!((head.size, head.etag), (Some(2 * PART as u64 + 1001), Some(ETag::new(&*whole))));
    request.part_number = Some(4);
    let error = client.head("a/ä", request).await.unwrap_err();
    assert_eq!(error.kind(), RemoteErrorKind::NotFound, "{error}");

    let told = client.object_attributes("a/ä", None).await.unwrap();
    assert_eq!((told.size, told.parts_count), (Some(2 * PART as u64 + 1001), Some(3)));
    assert_eq!(told.checksum_type, Some(ChecksumType::Composite));
    let sizes: Vec<u64> = told.parts.iter().map(|part| part.size).collect();
    assert_eq!(sizes, bodies.each_ref().map(|body| body.len() as u64));
    assert_eq!(told.parts[1].checksums, [digest(algorithm, &bodies[1])]);
    assert_eq!(client.object_attributes("a/ä", Some(1)).await.unwrap().parts.len(), 2);
    assert!(read(&client, "a/ä", None).await == bodies.concat());

    let id = client.create_multipart_upload("b", None, &HeaderMap::new()).await.unwrap();
    client.abort_multipart_upload("b", &id).await.unwrap();
    let error = client.list_parts("b", &id, None).await.unwrap_err();
    assert_eq!(error.refusal().unwrap().code, "NoSuchUpload");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_not_is_told() {
    let server = Running::start(None).await;
    server.client(|_| {}).await;
    let anonymous = |options: &mut manyhash_s3_client::http::Options| {
        options.identity = manyhash_s3_client::http::Identity::Anonymous;
    };
    let error = crate::setup::client(&server.endpoint, anonymous).await.list_objects("", None).await.unwrap_err();
    assert!(error.to_string().ends_with("the request was not signed: give credentials"), "{error}");
    // Another access key than the server's.
    let error = crate::setup::client(&server.endpoint, |_| {}).await.list_objects("", None).await.unwrap_err();
    let Error::Refused(refusal) = &error else { panic!("{error}") };
    assert_eq!((refusal.status.as_u16(), &*refusal.code), (403, "InvalidAccessKeyId"));
    assert!(refusal.request_id.is_some() && error.to_string().contains(&server.endpoint), "{error}");
}
