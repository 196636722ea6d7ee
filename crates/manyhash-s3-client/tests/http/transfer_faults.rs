//! Uploads to services that fail, lie, or know less than AWS.

use crate::setup::{Does, Fake, Got, answer, client, noise, refusal};
use crate::transfer::{PART, settings};
use manyhash_s3::checksum::{ChecksumAlgorithm, digest};
use manyhash_s3::etag;
use manyhash_s3_client::local;
use manyhash_s3_client::transfer::{ChecksumChoice, Error, Uploaded, Uploader};
use std::fs;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;

const NO_UPLOADS: &str = "<ListMultipartUploadsResult><Bucket>bucket</Bucket><KeyMarker></KeyMarker>\
                          <UploadIdMarker></UploadIdMarker><MaxUploads>1000</MaxUploads>\
                          <IsTruncated>false</IsTruncated></ListMultipartUploadsResult>";

/// What a request is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Put,
    Create,
    Part,
    Complete,
    Head,
    Uploads,
    Other,
}

fn kind(got: &Got) -> Kind {
    match (&*got.method, &*got.target) {
        ("PUT", target) if target.contains("partNumber=") => Kind::Part,
        ("PUT", _) => Kind::Put,
        ("POST", target) if target.contains("uploadId=") => Kind::Complete,
        ("POST", target) if target.contains("?uploads") => Kind::Create,
        ("GET", target) if target.contains("?uploads") => Kind::Uploads,
        ("HEAD", _) => Kind::Head,
        _ => Kind::Other,
    }
}

/// A file, and what a service says of it that is right.
struct Subject {
    _directory: TempDir,
    path: PathBuf,
    content: Vec<u8>,
}

impl Subject {
    fn new(length: usize) -> Subject {
        let directory = tempfile::tempdir().unwrap();
        let (path, content) = (directory.path().join("file"), noise(length, 7));
        fs::write(&path, &content).unwrap();
        Subject { _directory: directory, path, content }
    }

    fn etag(&self) -> String {
        let md5 = |part: &[u8]| manyhash::Md5::digest(part);
        match self.content.len() < PART {
            true => etag::single(&md5(&self.content)),
            false => etag::multipart(&self.content.chunks(PART).map(md5).collect::<Vec<_>>()),
        }
    }

    fn crc(&self) -> String {
        digest(ChecksumAlgorithm::Crc64Nvme, &self.content).to_string()
    }

    /// Uploads it; what came of it, and the requests.
    async fn upload(
        &self,
        choice: ChecksumChoice,
        if_none_match: bool,
        does: impl Fn(Kind, usize, &Got) -> Option<Does> + Send + Sync + 'static,
    ) -> (Result<Uploaded, Error>, Vec<Got>) {
        let right = right(self.etag(), self.crc(), self.content.len());
        let seen: [AtomicUsize; 7] = Default::default();
        let fake = Fake::start(move |_, got| {
            let kind = kind(got);
            let number = seen[kind as usize].fetch_add(1, Ordering::SeqCst);
            does(kind, number, got).unwrap_or_else(|| right(got))
        });
        let fake = fake.await;
        let mut settings = settings(choice);
        settings.if_none_match = if_none_match;
        let uploader = Uploader::new(client(&fake.endpoint(), |_| {}).await, settings).unwrap();
        let uploaded = uploader.file(&self.path, "k").await;
        (uploaded, fake.got())
    }
}

/// What S3 answers.
fn right(etag: String, crc: String, size: usize) -> impl Fn(&Got) -> Does + Send + Sync {
    move |got| {
        let tag = format!("\"{etag}\"");
        let length = size.to_string();
        let of_body = format!("\"{}\"", etag::single(&manyhash::Md5::digest(&got.body)));
        match kind(got) {
            Kind::Put | Kind::Part => {
                let mut headers = vec![("etag", &*of_body)];
                let sent = got.header("x-amz-checksum-crc64nvme").unwrap_or_default();
                if !sent.is_empty() {
                    headers.push(("x-amz-checksum-crc64nvme", sent));
                }
                answer(200, &headers, "")
            }
            Kind::Create => answer(
                200,
                &[],
                "<InitiateMultipartUploadResult><Bucket>bucket</Bucket><Key>k</Key><UploadId>U</UploadId>\
                 </InitiateMultipartUploadResult>",
            ),
            Kind::Complete => answer(200, &[], completed(&tag, Some(&crc))),
            Kind::Head => {
                let headers = [("content-length", &*length), ("etag", &*tag), ("x-amz-checksum-crc64nvme", &*crc)];
                answer(200, &headers, "")
            }
            Kind::Uploads => answer(200, &[], NO_UPLOADS),
            Kind::Other => refusal(501, "NotImplemented"),
        }
    }
}

fn completed(etag: &str, crc: Option<&str>) -> String {
    let crc = crc.map(|crc| format!("<ChecksumCRC64NVME>{crc}</ChecksumCRC64NVME>")).unwrap_or_default();
    let etag = etag.replace('"', "&quot;");
    format!(
        "<CompleteMultipartUploadResult><Bucket>bucket</Bucket><Key>k</Key><ETag>{etag}</ETag>{crc}\
         </CompleteMultipartUploadResult>"
    )
}

fn count(got: &[Got], of: Kind) -> usize {
    got.iter().filter(|got| kind(got) == of).count()
}

const SMALL: usize = 1000;
const LARGE: usize = 2 * PART + 3;

#[tokio::test(flavor = "multi_thread")]
async fn what_passes_is_tried_again() {
    for (length, of) in [
        (SMALL, Kind::Put),
        (LARGE, Kind::Uploads),
        (LARGE, Kind::Create),
        (LARGE, Kind::Part),
        (LARGE, Kind::Complete),
    ] {
        let subject = Subject::new(length);
        for failure in [refusal(503, "SlowDown"), refusal(500, "InternalError"), Does::Reset, Does::Bytes(Vec::new())] {
            let said = format!("{of:?} {failure:?}");
            let (uploaded, got) = subject
                .upload(ChecksumChoice::Auto, false, move |kind, number, _| {
                    (kind == of && number == 0).then(|| failure.clone())
                })
                .await;
            let uploaded = uploaded.unwrap();
            assert_eq!(uploaded.etag.as_str(), subject.etag(), "{said}");
            // All was told.
            assert_eq!(count(&got, Kind::Head), 0, "{said}");
            let parts = if of == Kind::Part { 4 } else { 3 };
            assert_eq!(count(&got, Kind::Part), if length == LARGE { parts } else { 0 }, "{said}");
        }
    }
    // An error in an answer that began well.
    let subject = Subject::new(LARGE);
    let late = |kind, number, _: &Got| (kind == Kind::Complete && number == 0).then(|| refusal(200, "InternalError"));
    subject.upload(ChecksumChoice::Auto, false, late).await.0.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_stays_publishes_nothing() {
    let subject = Subject::new(LARGE);
    for of in [Kind::Create, Kind::Part] {
        let (uploaded, got) = subject
            .upload(ChecksumChoice::None, false, move |kind, number, _| {
                (kind == of && (number == 1 || of == Kind::Create)).then(|| refusal(403, "AccessDenied"))
            })
            .await;
        let error = uploaded.unwrap_err().to_string();
        assert!(error.contains("AccessDenied"), "{error}");
        assert_eq!(count(&got, Kind::Complete), 0);
    }
    // Whoever may not list uploads all.
    let (uploaded, _) = subject
        .upload(ChecksumChoice::Auto, false, |kind, _, _| (kind == Kind::Uploads).then(|| refusal(403, "AccessDenied")))
        .await;
    uploaded.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_answer_is_no_failure() {
    // The object was made, and the next attempt is told that it is there.
    let small = Subject::new(SMALL);
    let lost = |after: Does| {
        move |kind: Kind, number: usize, _: &Got| match kind {
            Kind::Put | Kind::Complete if number == 0 => Some(Does::Reset),
            Kind::Put | Kind::Complete => Some(after.clone()),
            _ => None,
        }
    };
    let (uploaded, got) = small.upload(ChecksumChoice::Auto, true, lost(refusal(412, "PreconditionFailed"))).await;
    assert!(uploaded.unwrap().was_there);
    assert_eq!((count(&got, Kind::Put), count(&got, Kind::Head)), (2, 1));
    assert!(got.iter().all(|got| kind(got) != Kind::Put || got.header("if-none-match") == Some("*")));
    let large = Subject::new(LARGE);
    let (uploaded, got) = large.upload(ChecksumChoice::Auto, false, lost(refusal(404, "NoSuchUpload"))).await;
    assert!(!uploaded.unwrap().was_there);
    assert_eq!((count(&got, Kind::Complete), count(&got, Kind::Head)), (2, 1));
    // All answers are lost, and it is there.
    large.upload(ChecksumChoice::Auto, false, lost(Does::Reset)).await.0.unwrap();

    // Another object is there, or none.
    let other = move |after: Does, head: Does| {
        let lost = lost(after);
        move |kind: Kind, number: usize, got: &Got| match kind {
            Kind::Head => Some(head.clone()),
            _ => lost(kind, number, got),
        }
    };
    let another = answer(200, &[("content-length", "1000"), ("etag", "\"0cc175b9c0f1b6a831c399e269772661\"")], "");
    let refused = refusal(412, "PreconditionFailed");
    let (uploaded, _) = small.upload(ChecksumChoice::Auto, true, other(refused.clone(), another.clone())).await;
    assert!(matches!(uploaded, Err(Error::ObjectExists)), "{uploaded:?}");
    for head in [another, answer(404, &[], "")] {
        let does = other(refusal(404, "NoSuchUpload"), head);
        let (uploaded, _) = large.upload(ChecksumChoice::Auto, false, does).await;
        assert!(matches!(uploaded, Err(Error::Request(_))), "{uploaded:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_service_has_must_be_what_was_sent() {
    let wrong = "\"0cc175b9c0f1b6a831c399e269772661\"";
    let composite = "\"0cc175b9c0f1b6a831c399e269772661-3\"";
    let crc = digest(ChecksumAlgorithm::Crc64Nvme, b"another").to_string();
    let checksum = answer(200, &[("x-amz-checksum-crc64nvme", &crc)], "");
    for (length, of, lie) in [
        (SMALL, Kind::Put, answer(200, &[("etag", wrong)], "")),
        (SMALL, Kind::Put, checksum.clone()),
        (LARGE, Kind::Part, answer(200, &[("etag", wrong)], "")),
        (LARGE, Kind::Part, checksum),
        (LARGE, Kind::Complete, answer(200, &[], completed(composite, None))),
        (LARGE, Kind::Complete, answer(200, &[], completed(wrong, None))),
        (LARGE, Kind::Complete, answer(200, &[], completed("\"opaque\"", Some(&crc)))),
    ] {
        let said = format!("{of:?} {lie:?}");
        let (uploaded, got) = Subject::new(length)
            .upload(ChecksumChoice::Auto, false, move |kind, _, _| (kind == of).then(|| lie.clone()))
            .await;
        assert!(matches!(uploaded, Err(Error::Stored { .. })), "{said}: {uploaded:?}");
        assert_eq!(count(&got, Kind::Complete), usize::from(of == Kind::Complete), "{said}");
    }
    // It is told by HeadObject alone.
    for head in [
        answer(200, &[("content-length", "1000"), ("etag", wrong)], ""),
        answer(200, &[("content-length", "999"), ("etag", &format!("\"{}\"", Subject::new(SMALL).etag()))], ""),
        answer(200, &[("content-length", "1000"), ("x-amz-checksum-crc64nvme", &crc)], ""),
        answer(200, &[("content-length", "1000"), ("etag", "\"opaque\"")], ""),
    ] {
        let (uploaded, _) = Subject::new(SMALL)
            .upload(ChecksumChoice::Auto, false, move |kind, _, _| match kind {
                Kind::Put => Some(answer(200, &[], "")),
                Kind::Head => Some(head.clone()),
                _ => None,
            })
            .await;
        assert!(matches!(uploaded, Err(Error::Stored { .. } | Error::Untold)), "{uploaded:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tags_of_encrypted_objects_are_not_compared() {
    let headers = [
        ("etag", "\"0cc175b9c0f1b6a831c399e269772661\""),
        ("x-amz-server-side-encryption", "aws:kms"),
        ("content-length", "1000"),
    ];
    let (put, head) = (answer(200, &headers[..2], ""), answer(200, &headers, ""));
    for choice in [ChecksumChoice::Auto, ChecksumChoice::None] {
        let (put, head) = (put.clone(), head.clone());
        let (uploaded, got) = Subject::new(SMALL)
            .upload(choice, false, move |kind, _, _| match kind {
                Kind::Put => Some(put.clone()),
                Kind::Head => Some(head.clone()),
                _ => None,
            })
            .await;
        uploaded.unwrap();
        assert_eq!(count(&got, Kind::Head), 1);
    }
    let large = Subject::new(LARGE);
    let length = LARGE.to_string();
    let of_parts = [("content-length", &*length), headers[0], headers[1]];
    let head = answer(200, &of_parts, "");
    let (uploaded, got) = large
        .upload(ChecksumChoice::Auto, false, move |kind, _, _| match kind {
            Kind::Part => Some(put.clone()),
            Kind::Complete => Some(answer(200, &[], completed(headers[0].1, None))),
            Kind::Head => Some(head.clone()),
            _ => None,
        })
        .await;
    uploaded.unwrap();
    // The service's own names of the parts.
    let complete = got.iter().find(|got| kind(got) == Kind::Complete).unwrap().text();
    assert_eq!(complete.matches("0cc175b9c0f1b6a831c399e269772661").count(), 3, "{complete}");
}

#[tokio::test(flavor = "multi_thread")]
async fn services_that_refuse_checksums() {
    for code in ["NotImplemented", "InvalidArgument"] {
        let status = if code == "NotImplemented" { 501 } else { 400 };
        let refuses = move |_: Kind, _: usize, got: &Got| {
            let has_checksum = got.headers.iter().any(|(name, _)| name.starts_with("x-amz-checksum-"));
            (has_checksum && got.method != "HEAD").then(|| refusal(status, code))
        };
        for length in [SMALL, LARGE] {
            let (uploaded, got) = Subject::new(length).upload(ChecksumChoice::Auto, false, refuses).await;
            assert_eq!(uploaded.unwrap().checksum, None);
            let bodies = got.iter().filter(|got| matches!(kind(got), Kind::Put | Kind::Part));
            let with_md5 = bodies.filter(|got| got.header("content-md5").is_some()).count();
            assert_eq!(with_md5, if length == SMALL { 1 } else { 3 });
            // Who asks for one has it or nothing.
            let choice = ChecksumChoice::Algorithm(ChecksumAlgorithm::Crc32);
            let (uploaded, _) = Subject::new(length).upload(choice, false, refuses).await;
            assert!(uploaded.unwrap_err().to_string().contains(code));
        }
        // One that takes the beginning of an upload, and not its parts.
        let (uploaded, got) = Subject::new(LARGE)
            .upload(
                ChecksumChoice::Auto,
                false,
                move |kind, number, got| {
                    if kind == Kind::Part { refuses(kind, number, got) } else { None }
                },
            )
            .await;
        assert_eq!(uploaded.unwrap().checksum, None);
        assert!(!got.iter().find(|got| kind(got) == Kind::Complete).unwrap().text().contains("Checksum"));
    }
    // What is damaged on its way is no reason to do without.
    let (uploaded, got) = Subject::new(SMALL)
        .upload(ChecksumChoice::Auto, false, |kind, _, _| (kind == Kind::Put).then(|| refusal(400, "BadDigest")))
        .await;
    assert!(uploaded.unwrap_err().to_string().contains("BadDigest"));
    assert_eq!(count(&got, Kind::Put), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_parts() {
    let subject = Subject::new(29_999);
    let md5s: Vec<_> = subject.content.chunks(3).map(manyhash::Md5::digest).collect();
    let (etag, crc) = (etag::multipart(&md5s), digest(ChecksumAlgorithm::Crc64Nvme, &subject.content));
    let right = right(etag.clone(), crc.to_string(), subject.content.len());
    let fake = Fake::start(move |_, got| right(got)).await;
    let mut settings = settings(ChecksumChoice::Auto);
    settings.part_bytes = NonZeroU64::new(3);
    let uploader = Uploader::new(client(&fake.endpoint(), |_| {}).await, settings).unwrap();
    let uploaded = uploader.file(&subject.path, "k").await.unwrap();
    assert_eq!((uploaded.parts, uploaded.etag.as_str()), (Some(10_000), &*etag));
    assert_eq!(uploaded.checksum.unwrap().checksum, crc);
    let got = fake.got();
    assert_eq!(count(&got, Kind::Part), 10_000);
    let complete = got.iter().find(|got| kind(got) == Kind::Complete).unwrap();
    assert_eq!(complete.header("x-amz-checksum-crc64nvme"), Some(&*crc.to_string()));
    assert_eq!(complete.header("x-amz-mp-object-size"), Some("29999"));
    // In the order of their numbers.
    let text = complete.text();
    let numbers =
        text.split("<PartNumber>").skip(1).map(|part| part.split('<').next().unwrap().parse::<u32>().unwrap());
    assert!(numbers.eq(1..=10_000));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_changes_is_not_published() {
    let subject = Subject::new(LARGE);
    for change in [
        |path: &std::path::Path| {
            fs::OpenOptions::new().append(true).open(path).map(|mut file| {
                std::io::Write::write_all(&mut file, b"more").unwrap();
            })
        },
        |path: &std::path::Path| fs::OpenOptions::new().write(true).open(path).map(|file| file.set_len(10).unwrap()),
        |path: &std::path::Path| {
            fs::OpenOptions::new().write(true).open(path).map(|file| {
                std::os::unix::fs::FileExt::write_all_at(&file, b"x", LARGE as u64 - 1).unwrap();
            })
        },
    ] {
        fs::write(&subject.path, &subject.content).unwrap();
        let path = subject.path.clone();
        let (uploaded, got) = subject
            .upload(ChecksumChoice::Auto, false, move |kind, _, _| {
                // After it was opened.
                if kind == Kind::Create {
                    std::thread::sleep(std::time::Duration::from_millis(20));
                    change(&path).unwrap();
                }
                None
            })
            .await;
        assert!(matches!(uploaded, Err(Error::Local(local::Error::Changed))), "{uploaded:?}");
        assert_eq!(count(&got, Kind::Complete), 0);
    }
}
