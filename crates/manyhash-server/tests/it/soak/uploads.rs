//! Clients that upload in parts.

use super::clients::{Client, outcome};
use super::model::{KEYS, Model, Outcome, Piece, Version, md5};
use super::wire::Outgoing;
use crate::client::Incoming;
use manyhash_s3::checksum::{Checksum, ChecksumAlgorithm, ChecksumType, composite, digest};
use manyhash_s3::etag;
use rand::RngExt;
use rand::seq::SliceRandom;
use std::net::SocketAddr;
use std::sync::Arc;

/// The least length of a part that is not the last.
const PART: usize = 5 << 20;

/// How often a part is sent, or an upload completed, if the server fails.
const TRIES: usize = 4;

/// An upload that is under way.
struct Upload {
    key: usize,
    id: String,
    /// What the checksum of the object is to be made of.
    checksum: Option<(ChecksumAlgorithm, ChecksumType)>,
    parts: Vec<Part>,
}

/// A part that was uploaded.
struct Part {
    number: usize,
    piece: Piece,
    md5: [u8; 16],
    checksum: Option<Checksum>,
}

impl Upload {
    fn uri(&self, more: &str) -> String {
        format!("/soak/{}?{more}uploadId={}", Model::name(self.key), self.id)
    }

    /// The request that makes an object of the parts.
    fn completing(&self) -> Outgoing {
        let part = |part: &Part| {
            let checksum = part.checksum.map_or(String::new(), |checksum| {
                let element = checksum.algorithm().element();
                format!("<{element}>{checksum}</{element}>")
            });
            let (number, etag) = (part.number, etag::single(&part.md5));
            format!("<Part><PartNumber>{number}</PartNumber><ETag>\"{etag}\"</ETag>{checksum}</Part>")
        };
        let parts: String = self.parts.iter().map(part).collect();
        let xml = format!("<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>");
        Outgoing::new("POST", self.uri("")).body(xml.into_bytes())
    }

    /// What is made of the parts.
    fn version(&self) -> Version {
        let pieces: Vec<Piece> = self.parts.iter().map(|part| part.piece).collect();
        let checksum = self.checksum.map(|(algorithm, kind)| match kind {
            ChecksumType::Composite => {
                let of_parts: Vec<Checksum> = self.parts.iter().filter_map(|part| part.checksum).collect();
                (algorithm, composite(algorithm, &of_parts).unwrap().to_string())
            }
            _ => {
                let whole: Vec<u8> = pieces.iter().flat_map(|piece| piece.bytes()).collect();
                (algorithm, digest(algorithm, &whole).to_string())
            }
        });
        Version::of_parts(pieces, &self.parts.iter().map(|part| part.md5).collect::<Vec<_>>(), checksum)
    }
}

impl Client {
    pub(super) async fn upload(&mut self) {
        let Some(mut upload) = self.begin_upload().await else { return };
        let count = if self.one_in(4) { self.random.random_range(2..4) } else { 1 };
        let mut numbers: Vec<usize> = (0..count).collect();
        numbers.shuffle(&mut self.random);
        for at in numbers {
            let is_last = at + 1 == count;
            let length = if is_last { self.random.random_range(1..300 << 10) } else { PART };
            let is_replaced = self.one_in(8);
            let lengths = [1000, length];
            for length in &lengths[usize::from(!is_replaced)..] {
                if !self.put_part(&mut upload, 1 + 3 * at, *length).await {
                    // It may still come true, and take the place of another.
                    return self.abort(&upload).await;
                }
            }
        }
        upload.parts.sort_by_key(|part| part.number);
        if self.one_in(6) {
            return self.abort(&upload).await;
        }
        self.complete(&upload).await;
    }

    async fn begin_upload(&mut self) -> Option<Upload> {
        let soak = self.soak.clone();
        let server = soak.gate.read().await;
        let key = self.random.random_range(0..KEYS);
        let mut request = Outgoing::new("POST", format!("/soak/{}?uploads=", Model::name(key)));
        let algorithm = self.any(&ChecksumAlgorithm::ALL);
        let kinds = [ChecksumType::Composite, ChecksumType::FullObject];
        let kind = self.any(&kinds);
        let checksum = (algorithm.allows(kind) && self.one_in(2)).then_some((algorithm, kind));
        if checksum.is_some() {
            request = request.header("x-amz-checksum-algorithm", algorithm.name());
            request = request.header("x-amz-checksum-type", kind.name());
        }
        let answer = self.ask(*server, "CreateMultipartUpload", &request).await?;
        match outcome(Some(&answer)) {
            Outcome::Made => Some(Upload { key, id: answer.element("UploadId"), checksum, parts: Vec::new() }),
            Outcome::Refused => {
                soak.fail(format!("CreateMultipartUpload: {answer:?}"));
                None
            }
            _ => None,
        }
    }

    /// Uploads a part, and says whether it is there.
    async fn put_part(&mut self, upload: &mut Upload, number: usize, length: usize) -> bool {
        let soak = self.soak.clone();
        let piece = soak.model.fresh(length.max(16));
        let bytes = piece.bytes();
        let checksum = upload.checksum.map(|(algorithm, _)| digest(algorithm, &bytes));
        let mut request = Outgoing::new("PUT", upload.uri(&format!("partNumber={number}&"))).body(bytes);
        for _ in 0..TRIES {
            let server = soak.gate.read().await;
            self.frame(&mut request);
            if let Some((algorithm, _)) = upload.checksum {
                request.checksum = Some(algorithm);
            }
            if self.one_in(4) {
                self.put_spoilt_part(*server, upload, number).await;
            }
            let answer = self.ask(*server, "UploadPart", &request).await;
            match outcome(answer.as_ref()) {
                Outcome::Made => {
                    upload.parts.retain(|part| part.number != number);
                    upload.parts.push(Part { number, piece, md5: md5(&request.body), checksum });
                    return true;
                }
                Outcome::Refused => {
                    soak.fail(format!("part {number} of an upload to {}: {answer:?}", Model::name(upload.key)));
                    return false;
                }
                Outcome::Doubtful => {}
                Outcome::Unanswered => return false,
            }
        }
        false
    }

    async fn put_spoilt_part(&mut self, server: SocketAddr, upload: &Upload, number: usize) {
        let bytes = self.soak.model.fresh(self.random.random_range(16..200_000)).bytes();
        let mut request = Outgoing::new("PUT", upload.uri(&format!("partNumber={number}&"))).body(bytes.clone());
        self.frame(&mut request);
        if let Some((algorithm, _)) = upload.checksum {
            request.checksum = Some(algorithm);
        }
        let what = self.spoil(&mut request);
        self.soak.model.lie(&bytes, format!("part, {what}: {:?}", request.framing));
        let answer = self.ask(server, "UploadPart, spoilt", &request).await;
        self.soak.clone().expect_refusal(answer.as_ref(), &what, &request);
    }

    async fn abort(&mut self, upload: &Upload) {
        let soak = self.soak.clone();
        let server = soak.gate.read().await;
        self.ask(*server, "AbortMultipartUpload", &Outgoing::new("DELETE", upload.uri(""))).await;
    }

    /// Makes an object of the parts: each that was acknowledged must be there.
    async fn complete(&mut self, upload: &Upload) {
        let soak = self.soak.clone();
        let _writing = soak.model.writers[upload.key].clone().lock_owned().await;
        let server = soak.gate.read().await;
        if soak.model.is_haunted(upload.key) {
            return;
        }
        if self.one_in(3) {
            self.complete_spoilt(*server, upload).await;
        }
        let version = upload.version();
        let mut request = upload.completing();
        if let Some((algorithm, value)) = &version.checksum
            && self.one_in(2)
        {
            request = request.header(algorithm.header(), value);
        }
        if self.one_in(2) {
            request = request.header("x-amz-mp-object-size", version.length.to_string());
        }
        let (etag, new) = (version.etag.clone(), [Some(Arc::new(version))]);
        soak.model.begin(upload.key, &new);
        let mut came_of_it = Outcome::Unanswered;
        // Whoever does not hear of it asks again.
        for _ in 0..TRIES {
            let answer = self.ask(*server, "CompleteMultipartUpload", &request).await;
            came_of_it = outcome(answer.as_ref());
            match (came_of_it, &answer) {
                (Outcome::Made, Some(answer)) if !is_completed(answer, &etag) => {
                    soak.fail(format!("an upload to {} was completed: {answer:?}", Model::name(upload.key)));
                }
                (Outcome::Refused, _) => {
                    soak.fail(format!("an upload to {} is not complete: {answer:?}", Model::name(upload.key)));
                }
                (Outcome::Made, _) => {}
                (Outcome::Doubtful | Outcome::Unanswered, _) => continue,
            }
            break;
        }
        soak.model.settle(upload.key, came_of_it, &new);
    }

    /// Asks for an object that the parts do not make.
    async fn complete_spoilt(&mut self, server: SocketAddr, upload: &Upload) {
        let request = upload.completing();
        let (what, request) = match (self.random.random_range(0..3), upload.checksum) {
            (0, _) => ("a wrong size", request.header("x-amz-mp-object-size", "5")),
            (1, Some((algorithm, _))) => {
                ("a wrong checksum", request.header(algorithm.header(), digest(algorithm, b"other").to_string()))
            }
            _ => {
                let text = String::from_utf8(request.body.clone()).unwrap();
                let none = etag::single(&md5(b"other"));
                let wrong = text.replace(&etag::single(&upload.parts[0].md5), &none);
                ("a wrong part", request.body(wrong.into_bytes()))
            }
        };
        let answer = self.ask(server, "CompleteMultipartUpload, spoilt", &request).await;
        self.soak.clone().expect_refusal(answer.as_ref(), what, &request);
    }
}

fn is_completed(answer: &Incoming, etag: &str) -> bool {
    answer.text().replace("&quot;", "\"").contains(&format!("<ETag>{etag}</ETag>"))
}
