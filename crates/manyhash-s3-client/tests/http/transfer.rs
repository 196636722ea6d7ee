//! Files to the server of this workspace and back.

use crate::setup::{Running, noise};
use manyhash::{Algorithm, Sha256};
use manyhash_s3::checksum::{ChecksumAlgorithm, ChecksumType, ObjectChecksum, composite, digest, full_object};
use manyhash_s3::etag::{self, ETag};
use manyhash_s3_client::http::{Client, Content, Operation, Proof};
use manyhash_s3_client::local::{self, Cut, Files, Wanted};
use manyhash_s3_client::remote::{HeadRequest, Remote};
use manyhash_s3_client::transfer::{ChecksumChoice, DownloadSettings, Downloader, Error, UploadSettings, Uploader};
use std::fs;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) const PART: usize = 5 << 20;

/// Settings for parts as small as they can be.
pub(crate) fn settings(checksum: ChecksumChoice) -> UploadSettings {
    let mut settings = UploadSettings::default();
    (settings.checksum, settings.part_bytes) = (checksum, NonZeroU64::new(PART as u64));
    settings
}

/// All choices, and the algorithms that they come to at a service that knows checksums.
fn choices() -> Vec<(ChecksumChoice, Option<ChecksumAlgorithm>)> {
    let mut choices = vec![(ChecksumChoice::Auto, Some(ChecksumAlgorithm::Crc64Nvme)), (ChecksumChoice::None, None)];
    choices.extend(ChecksumAlgorithm::ALL.map(|algorithm| (ChecksumChoice::Algorithm(algorithm), Some(algorithm))));
    choices
}

fn expected_checksum(algorithm: ChecksumAlgorithm, content: &[u8]) -> ObjectChecksum {
    if content.len() < PART {
        return ObjectChecksum::of_body(digest(algorithm, content));
    }
    let parts: Vec<_> = content.chunks(PART).map(|part| digest(algorithm, part)).collect();
    match algorithm.allows(ChecksumType::FullObject) {
        true => full_object(algorithm, parts.into_iter().zip(content.chunks(PART).map(|part| part.len() as u64))),
        false => composite(algorithm, &parts),
    }
    .unwrap()
}

fn expected_etag(content: &[u8]) -> ETag {
    let md5 = |bytes: &[u8]| manyhash::Md5::digest(bytes);
    match content.len() < PART {
        true => ETag::new(etag::single(&md5(content))),
        false => ETag::new(etag::multipart(&content.chunks(PART).map(md5).collect::<Vec<_>>())),
    }
}

fn downloader(client: &Client) -> Downloader<Client> {
    Downloader::new(Arc::new(client.clone()), DownloadSettings::default()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_checksum_there_and_back() {
    let server = Running::start(None).await;
    let client = server.client(|_| {}).await;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let back = directory.path().join("back");
    for (choice, algorithm) in choices() {
        let uploader = Uploader::new(client.clone(), settings(choice)).unwrap();
        for length in [0, 1, 100_000, PART, 2 * PART + 77_777] {
            let content = noise(length, length as u64 + 1);
            fs::write(&path, &content).unwrap();
            let key = format!("{choice:?}/{length}");
            let before = client.counts();
            let uploaded = uploader.file(&path, &key).await.unwrap();
            let checksum = algorithm.map(|algorithm| expected_checksum(algorithm, &content));
            assert_eq!((uploaded.size, &uploaded.etag), (length as u64, &expected_etag(&content)), "{key}");
            assert_eq!((uploaded.checksum, uploaded.was_there, uploaded.kept_parts), (checksum, false, 0), "{key}");
            assert_eq!(uploaded.parts, (length >= PART).then(|| length.div_ceil(PART) as u32));
            // What the server has is that.
            let head = client.head_object(&key, HeadRequest { part_number: None, checksums: true }).await.unwrap();
            assert_eq!((head.content_length, head.etag), (length as u64, Some(uploaded.etag.clone())));
            if let Some(checksum) = checksum {
                assert_eq!((head.checksums, head.checksum_type), (vec![checksum], Some(checksum.kind)), "{key}");
            }
            uploader.check(&uploaded).await.unwrap();
            // Its answers tell all of it, so that nothing is asked.
            let sent = |of| client.counts().of(of) - before.of(of);
            assert_eq!(sent(Operation::HeadObject), 2, "{key}");
            assert_eq!(sent(Operation::UploadPart), uploaded.parts.map_or(0, u64::from), "{key}");

            let downloaded = downloader(&client).object(&key, &back, Path::new(&key)).await.unwrap();
            assert!(downloaded.check.is_some() && !downloaded.was_there, "{key}");
            assert!(fs::read(back.join(&key)).unwrap() == content, "{key}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_can_be_read_once() {
    let server = Running::start(None).await;
    let client = server.client(|_| {}).await;
    let mut settings = settings(ChecksumChoice::Auto);
    settings.digest = Some(Algorithm::Sha256);
    let uploader = Uploader::new(client.clone(), settings).unwrap();
    for length in [0, 1, PART - 1, PART, PART + 1, 3 * PART] {
        let content = noise(length, 5);
        let uploaded = uploader.reader(std::io::Cursor::new(content.clone()), "k").await.unwrap();
        assert_eq!((uploaded.size, uploaded.etag), (length as u64, expected_etag(&content)), "{length}");
        assert_eq!(uploaded.digest.unwrap().as_bytes(), Sha256::digest(&content));
        assert_eq!(uploaded.parts, (length >= PART).then(|| length.div_ceil(PART) as u32));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_files_in_little_memory() {
    let server = Running::start(None).await;
    let client = server.client(|_| {}).await;
    let directory = tempfile::tempdir().unwrap();
    let mut settings = settings(ChecksumChoice::Algorithm(ChecksumAlgorithm::Sha256));
    // Less than a part.
    (settings.memory, settings.digest) = (1, Some(Algorithm::Sha512));
    let counter = Arc::new(AtomicU64::new(0));
    settings.counter = Some(counter.clone());
    let uploader = Uploader::new(client.clone(), settings).unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    let mut all = 0;
    for i in 0..20_usize {
        let content = noise(i * 700_001, i as u64);
        all += content.len() as u64;
        let path = directory.path().join(i.to_string());
        fs::write(&path, &content).unwrap();
        let uploader = uploader.clone();
        tasks.spawn(async move { (uploader.file(path, &format!("many/{i}")).await, content) });
    }
    while let Some(done) = tasks.join_next().await {
        let (uploaded, content) = done.unwrap();
        let uploaded = uploaded.unwrap();
        assert_eq!(uploaded.etag, expected_etag(&content));
        assert_eq!(uploaded.digest.unwrap(), manyhash::digest(Algorithm::Sha512, &content));
    }
    assert_eq!(counter.load(Ordering::Relaxed), all);
}

/// Begins an upload and sends some parts, as a process does that is killed then.
async fn abandon(client: &Client, key: &str, algorithm: Option<ChecksumAlgorithm>, parts: &[(u32, &[u8])]) {
    let kind = algorithm.map(|algorithm| {
        let is_full = algorithm.allows(ChecksumType::FullObject);
        (algorithm, if is_full { ChecksumType::FullObject } else { ChecksumType::Composite })
    });
    let upload = client.create_multipart_upload(key, kind, &Default::default()).await.unwrap();
    for (number, part) in parts {
        let proof = algorithm.map_or(Proof::None, |algorithm| Proof::Header(digest(algorithm, part)));
        client.upload_part(key, &upload, *number, &Content::from(part.to_vec()), proof).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn verified_parts_are_not_sent_again() {
    let server = Running::start(None).await;
    let client = server.client(|_| {}).await;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let content = noise(4 * PART + 5, 9);
    fs::write(&path, &content).unwrap();
    let part = |i: usize| &content[i * PART..content.len().min((i + 1) * PART)];
    let wrong = noise(PART, 10);
    use ChecksumAlgorithm::{Crc64Nvme, Sha1};
    for (name, choice, begun, parts, kept) in [
        ("none", ChecksumChoice::Auto, Some(Crc64Nvme), vec![], 0),
        ("some", ChecksumChoice::Auto, Some(Crc64Nvme), vec![(1, part(0)), (3, part(2)), (5, part(4))], 3),
        ("wrong", ChecksumChoice::Auto, Some(Crc64Nvme), vec![(1, &wrong[..]), (2, part(0)), (4, part(3))], 1),
        ("all", ChecksumChoice::Algorithm(Sha1), Some(Sha1), (1..=5).zip((0..5).map(part)).collect(), 5),
        ("more", ChecksumChoice::Auto, Some(Crc64Nvme), vec![(2, part(1)), (6, part(0)), (9999, part(0))], 1),
        ("other", ChecksumChoice::Auto, Some(Sha1), vec![(1, part(0))], 0),
        ("plain", ChecksumChoice::None, None, vec![(1, part(0)), (2, part(1))], 2),
    ] {
        let key = format!("resumed/{name}");
        abandon(&client, &key, begun, &parts).await;
        let mut settings = settings(choice);
        settings.prefix = "resumed/".to_owned();
        let uploader = Uploader::new(client.clone(), settings).unwrap();
        let before = client.counts();
        let uploaded = uploader.file(&path, &key).await.unwrap();
        let sent = client.counts().of(Operation::UploadPart) - before.of(Operation::UploadPart);
        assert_eq!((uploaded.kept_parts, sent), (kept, 5 - u64::from(kept)), "{name}");
        assert_eq!(uploaded.etag, expected_etag(&content), "{name}");
        uploader.check(&uploaded).await.unwrap();
        let back = directory.path().join(name);
        downloader(&client).object(&key, directory.path(), Path::new(name)).await.unwrap();
        assert!(fs::read(back).unwrap() == content, "{name}");
    }
    // All that were taken up are over.
    let left = client.list_multipart_uploads("resumed/", None).await.unwrap().uploads;
    assert_eq!(left.iter().map(|upload| &*upload.key).collect::<Vec<_>>(), ["resumed/other"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_is_not_there_yet() {
    let server = Running::start(None).await;
    let client = server.client(|_| {}).await;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    for length in [1000, 2 * PART] {
        let key = length.to_string();
        let content = noise(length, 3);
        fs::write(&path, &content).unwrap();
        let mut settings = settings(ChecksumChoice::Auto);
        (settings.if_none_match, settings.digest) = (true, Some(Algorithm::Sha256));
        let uploader = Uploader::new(client.clone(), settings).unwrap();
        let uploaded = uploader.file(&path, &key).await.unwrap();
        assert!(!uploaded.was_there);
        let before = client.counts();
        let again = uploader.file(&path, &key).await.unwrap();
        assert!(again.was_there, "{length}");
        assert_eq!((again.etag, again.checksum, again.digest), (uploaded.etag, uploaded.checksum, uploaded.digest));
        fs::write(&path, &content[1..]).unwrap();
        let error = uploader.file(&path, &key).await.unwrap_err();
        assert!(matches!(error, Error::ObjectExists), "{error}");
        assert_eq!(client.counts().of(Operation::UploadPart), before.of(Operation::UploadPart));
        downloader(&client).object(&key, directory.path(), Path::new(&key)).await.unwrap();
        assert!(fs::read(directory.path().join(&key)).unwrap() == content);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_file() {
    let server = Running::start(None).await;
    let client = server.client(|_| {}).await;
    let uploader = Uploader::new(client.clone(), settings(ChecksumChoice::Auto)).unwrap();
    let directory = tempfile::tempdir().unwrap();
    for (path, words) in [
        (directory.path().join("none"), "No such file"),
        (directory.path().to_owned(), "not a regular file"),
        ("/dev/null".into(), "not a regular file"),
        // One that says that it is empty.
        ("/proc/self/status".into(), "changed while it was read"),
    ] {
        let error = uploader.file(&path, "k").await.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    assert!(client.list("", None).await.unwrap().objects.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_and_one_parts() {
    let server = Running::start(None).await;
    let client = server.client(|_| {}).await;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    fs::File::create(&path).unwrap().set_len(10_000 * PART as u64 + 1).unwrap();
    let uploader = Uploader::new(client.clone(), settings(ChecksumChoice::Auto)).unwrap();
    let error = uploader.file(&path, "k").await.unwrap_err();
    assert!(matches!(error, Error::Local(local::Error::TooManyParts { .. })), "{error}");
    assert_eq!(client.counts().of(Operation::CreateMultipartUpload), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_are_deleted() {
    let server = Running::start(None).await;
    let client = server.client(|_| {}).await;
    let names = ["a", " b", "c\r\nd", "&<>", "ä/", "\u{1}"];
    for name in names {
        client.put_object(name, &"x".into(), Proof::None, &Default::default()).await.unwrap();
    }
    client.put_object("stays", &"x".into(), Proof::None, &Default::default()).await.unwrap();
    let errors = client.delete_objects(&[&names[..], &["none"]].concat()).await.unwrap();
    assert!(errors.is_empty(), "{errors:?}");
    let left = client.list("", None).await.unwrap().objects;
    assert_eq!(left.iter().map(|object| &*object.key).collect::<Vec<_>>(), ["stays"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn cut_as_other_programs_do() {
    let server = Running::start(None).await;
    let client = server.client(|_| {}).await;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let uploader = Uploader::new(client, UploadSettings::default()).unwrap();
    for length in [(8 << 20) - 1, 8 << 20, (8 << 20) + 1] {
        fs::write(&path, noise(length, 1)).unwrap();
        let cut = Cut::by_default(length as u64);
        let mut wanted = Wanted::new();
        wanted.etag(cut.clone());
        let expected = Files::new().digest_one(&path, wanted).unwrap().etag(&cut);
        assert_eq!(Some(uploader.file(&path, "k").await.unwrap().etag), expected, "{length}");
    }
}
