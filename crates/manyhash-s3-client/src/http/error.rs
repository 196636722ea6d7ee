//! Why a request failed.

use super::operation::Operation;
use crate::remote::{RemoteError, RemoteErrorKind};
use http::StatusCode;
use manyhash_s3::ErrorCode;
use manyhash_s3::sign::SigningError;
use manyhash_s3::xml::XmlError;
use std::fmt;
use std::io;
use std::sync::Arc;

/// What a request was about. `Display` is as in `GetObject s3://bucket/key`.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Target {
    /// The operation.
    pub operation: Operation,
    /// The bucket.
    pub bucket: String,
    /// The key, unless it is about the bucket.
    pub key: Option<String>,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s3://{}", self.operation, self.bucket)?;
        // A key is any text: one with line breaks must not look like a message of its own.
        self.key.as_ref().map_or(Ok(()), |key| write!(f, "/{}", key.escape_debug()))
    }
}

/// Why a request failed, after all attempts.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The service refused.
    #[error(transparent)]
    Refused(Box<Refusal>),
    /// There are no credentials, or where they come from failed.
    #[error("{target}: {source}")]
    Credentials {
        /// The request that needed them.
        target: Target,
        /// What failed.
        source: CredentialsError,
    },
    /// The service could not be reached, or the connection broke.
    #[error("{target}: no answer from {endpoint}: {}", causes(&**source))]
    Connection {
        /// The request.
        target: Target,
        /// The scheme, host and port.
        endpoint: String,
        /// What failed.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The service was silent for too long.
    #[error("{target}: {endpoint} was silent for {seconds} s")]
    Timeout {
        /// The request.
        target: Target,
        /// The scheme, host and port.
        endpoint: String,
        /// How long.
        seconds: u64,
    },
    /// The answer is not the document that belongs to the operation.
    #[error("{target}: the answer of {endpoint} is {source}: check that the endpoint is one of S3")]
    Document {
        /// The request.
        target: Target,
        /// The scheme, host and port.
        endpoint: String,
        /// What is wrong with it.
        source: XmlError,
    },
    /// The answer contradicts the request or itself.
    #[error("{target}: the answer of {endpoint} {reason}")]
    Answer {
        /// The request.
        target: Target,
        /// The scheme, host and port.
        endpoint: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The content that was to be sent could not be read.
    #[error("{target}: what was to be sent cannot be read: {source}")]
    Content {
        /// The request.
        target: Target,
        /// What failed.
        source: Arc<io::Error>,
    },
    /// The request cannot be made.
    #[error("{target}: {source}")]
    Signing {
        /// The request.
        target: Target,
        /// Why not.
        source: SigningError,
    },
    /// The request has a name or value that cannot be sent.
    #[error("{target}: {reason}")]
    Request {
        /// The request.
        target: Target,
        /// Which, and why not.
        reason: String,
    },
}

impl Error {
    /// Returns S3's refusal, if this is one.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Error::Refused(refusal) => Some(refusal),
            _ => None,
        }
    }
}

impl From<Error> for RemoteError {
    fn from(error: Error) -> RemoteError {
        RemoteError::new(error.refusal().map_or(RemoteErrorKind::Other, Refusal::kind), error)
    }
}

/// The service's refusal of a request.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{target}: {code}: {message} (status {}{}){}", status.as_u16(), Request(request_id), Advice(advice))]
#[non_exhaustive]
pub struct Refusal {
    /// The request.
    pub target: Target,
    /// The status of the answer. That of an error after the answer was begun is 200.
    pub status: StatusCode,
    /// S3's code, such as `NoSuchKey`. Answers to HEAD have none, and this is the name of their status, such as
    /// `NotFound`.
    pub code: String,
    /// S3's message.
    pub message: String,
    /// The request in the service's records, which its support will ask for.
    pub request_id: Option<String>,
    /// What to do, where it is known.
    pub advice: Option<String>,
}

struct Request<'a>(&'a Option<String>);

impl fmt::Display for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |id| write!(f, ", request {id}"))
    }
}

struct Advice<'a>(&'a Option<String>);

impl fmt::Display for Advice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |advice| write!(f, ": {advice}"))
    }
}

impl Refusal {
    /// Returns the code, if it is one of those known here.
    pub fn error_code(&self) -> Option<ErrorCode> {
        ErrorCode::from_code(&self.code)
    }

    pub(crate) fn kind(&self) -> RemoteErrorKind {
        match self.status.as_u16() {
            // A HEAD of a part that is not there has no code.
            416 if self.target.operation == Operation::HeadObject => RemoteErrorKind::NotFound,
            status => RemoteErrorKind::of_refusal(&self.code, status),
        }
    }

    /// Says what to do about it.
    pub(super) fn advise(&mut self, endpoint: &str, anonymous: bool) {
        let right = self.target.operation.right();
        self.advice = match &*self.code {
            "AccessDenied" | "Forbidden" if anonymous => {
                Some("the request was not signed: give credentials".to_owned())
            }
            "AccessDenied" | "AllAccessDisabled" => Some(format!("whoever signs needs the right {right}")),
            "Forbidden" => Some(format!(
                "whoever signs needs the right {right}; without s3:ListBucket, S3 says this of keys that do not exist too"
            )),
            "InvalidAccessKeyId" | "SignatureDoesNotMatch" => {
                Some(format!("check the access key and its secret, and that they are for {endpoint}"))
            }
            "ExpiredToken" | "ExpiredTokenException" => {
                Some("the session of the credentials has ended: sign in again, as by `aws sso login`".to_owned())
            }
            "InvalidToken" => {
                Some("check the session token: it belongs to one access key, and to one service".to_owned())
            }
            "RequestTimeTooSkewed" => Some("set this machine's clock".to_owned()),
            "NoSuchBucket" => Some(format!("check the bucket's name, and that {endpoint} is where it is")),
            "PermanentRedirect" | "AuthorizationHeaderMalformed" | "IllegalLocationConstraintException" => {
                Some("give the bucket's own region and endpoint".to_owned())
            }
            "InvalidObjectState" => Some("restore the object from its archive first".to_owned()),
            "NotImplemented" => Some(format!("{endpoint} lacks what the request needs")),
            "SlowDown" | "ServiceUnavailable" | "TooManyRequests" => {
                Some("the service has no room for more: try again later, with fewer requests at once".to_owned())
            }
            _ => None,
        };
    }
}

/// Why there are no credentials.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CredentialsError {
    /// Nothing gave any.
    #[error(
        "no credentials found in {places}: give an access key, choose a profile, sign in with `aws sso login`, or send \
         unsigned requests"
    )]
    NotFound {
        /// Where they were looked for.
        places: String,
    },
    /// Where they come from failed.
    #[error("cannot get credentials: {reason}")]
    Failed {
        /// The error and its causes.
        reason: String,
    },
}

/// An error and its causes, in one line, each once.
pub(super) fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let said = cause.to_string();
        if !text.contains(&said) {
            text = [text, said].join(": ");
        }
        next = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(operation: Operation, status: u16, code: &str) -> Refusal {
        let target = Target { operation, bucket: "b".to_owned(), key: Some("a\nb".to_owned()) };
        let status = StatusCode::from_u16(status).unwrap();
        let (code, message) = (code.to_owned(), "Said.".to_owned());
        Refusal { target, status, code, message, request_id: Some("42".to_owned()), advice: None }
    }

    #[test]
    fn messages() {
        let mut error = refusal(Operation::GetObject, 403, "AccessDenied");
        error.advise("http://h", false);
        assert_eq!(
            error.to_string(),
            "GetObject s3://b/a\\nb: AccessDenied: Said. (status 403, request 42): whoever signs needs the right \
             s3:GetObject"
        );
        error.advise("http://h", true);
        assert!(error.to_string().ends_with("the request was not signed: give credentials"));
        let mut error = refusal(Operation::ListParts, 500, "InternalError");
        (error.request_id, error.target.key) = (None, None);
        error.advise("http://h", false);
        assert_eq!(error.to_string(), "ListParts s3://b: InternalError: Said. (status 500)");
    }

    #[test]
    fn kinds() {
        for (status, code, kind) in [
            (404, "NoSuchKey", RemoteErrorKind::NotFound),
            (404, "NotFound", RemoteErrorKind::NotFound),
            (416, "RangeNotSatisfiable", RemoteErrorKind::NotFound),
            (412, "PreconditionFailed", RemoteErrorKind::Changed),
            (403, "InvalidObjectState", RemoteErrorKind::Archived),
            (403, "Forbidden", RemoteErrorKind::Denied),
            (501, "NotImplemented", RemoteErrorKind::Unsupported),
            (405, "MethodNotAllowed", RemoteErrorKind::Unsupported),
            (500, "InternalError", RemoteErrorKind::Other),
            (200, "InternalError", RemoteErrorKind::Other),
        ] {
            let error = Error::Refused(Box::new(refusal(Operation::HeadObject, status, code)));
            assert_eq!(RemoteError::from(error).kind(), kind, "{status} {code}");
        }
        assert_eq!(refusal(Operation::GetObject, 416, "InvalidRange").kind(), RemoteErrorKind::Other);
    }
}
