//! One request before it is sent, and its answer.

use super::body::Form;
use super::content::{Content, Proof};
use super::limiter::Permit;
use super::operation::Operation;
use bytes::Bytes;
use data_encoding::BASE64;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use hyper::body::Incoming;
use manyhash::Sha256;
use manyhash_s3::sign::{Payload, encode_query};

/// A request of an operation.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) operation: Operation,
    pub(super) method: Method,
    pub(super) key: Option<&'a str>,
    /// Encoded names and values.
    pub(super) query: String,
    pub(super) headers: HeaderMap,
    pub(super) content: Option<&'a Content>,
    pub(super) proof: Proof,
    pub(super) answer: AnswerForm,
    /// The first header whose value cannot be sent.
    pub(super) invalid: Option<String>,
}

/// What the answer of an operation is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AnswerForm {
    /// Headers alone.
    Headers,
    /// A document, which can be an error even if the status is 200.
    Document,
    /// The bytes of an object.
    Bytes,
}

/// An answer that is no refusal.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    /// The document, if it is one.
    pub(super) document: Bytes,
    /// The bytes, if they are an object's. The permit is given back when they end.
    pub(super) stream: Option<(Incoming, Permit)>,
}

impl<'a> Call<'a> {
    pub(super) fn new(operation: Operation, method: Method, key: Option<&'a str>, answer: AnswerForm) -> Call<'a> {
        let (query, headers) = (String::new(), HeaderMap::new());
        Call { operation, method, key, query, headers, content: None, proof: Proof::None, answer, invalid: None }
    }

    /// Adds a parameter.
    pub(super) fn query(mut self, name: &str, value: impl AsRef<str>) -> Self {
        let separator = if self.query.is_empty() { "" } else { "&" };
        self.query.extend([separator, name, "=", &encode_query(value.as_ref())]);
        self
    }

    /// Adds a parameter, if there is a value.
    pub(super) fn query_opt(self, name: &str, value: Option<impl AsRef<str>>) -> Self {
        match value {
            Some(value) => self.query(name, value),
            None => self,
        }
    }

    /// Adds a header.
    pub(super) fn header(mut self, name: &'static str, value: impl AsRef<str>) -> Self {
        match HeaderValue::from_str(value.as_ref()) {
            Ok(value) => {
                self.headers.insert(name, value);
            }
            Err(_) => {
                self.invalid.get_or_insert(format!("the value of {name} cannot be sent in a header"));
            }
        }
        self
    }

    /// Adds headers of the caller's.
    pub(super) fn headers(mut self, headers: &HeaderMap) -> Self {
        self.headers.extend(headers.clone());
        self
    }

    pub(super) fn content(mut self, content: &'a Content, proof: Proof) -> Self {
        (self.content, self.proof) = (Some(content), proof);
        match proof {
            Proof::None => self,
            Proof::Header(checksum) => self.header(checksum.algorithm().header(), checksum.to_string()),
            Proof::ContentMd5(md5) => self.header("content-md5", BASE64.encode(&md5)),
            Proof::Trailer(algorithm) => self
                .header("x-amz-trailer", algorithm.header())
                .header("x-amz-sdk-checksum-algorithm", algorithm.name()),
        }
    }

    /// How the body is sent: by TLS, what is not signed cannot be changed on its way either.
    pub(super) fn form(&self, is_tls: bool, is_signed: bool) -> Form {
        let trailer = match self.proof {
            Proof::Trailer(algorithm) => Some(algorithm),
            _ => None,
        };
        let payload = match self.content {
            None => Payload::Sha256(Sha256::digest(b"")),
            Some(_) if trailer.is_some() && (is_tls || !is_signed) => Payload::StreamingUnsignedTrailer,
            Some(_) if trailer.is_some() => Payload::StreamingSignedTrailer,
            Some(content) => match (content.sha256, content.pieces()) {
                (Some(sha256), _) => Payload::Sha256(sha256),
                _ if is_tls || !is_signed => Payload::Unsigned,
                (None, None) => Payload::StreamingSigned,
                (None, Some(pieces)) => {
                    let mut sha256 = Sha256::new();
                    pieces.iter().for_each(|piece| sha256.update(piece));
                    Payload::Sha256(sha256.finalize())
                }
            },
        };
        Form { payload, trailer }
    }
}
