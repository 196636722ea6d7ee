//! What a request says of its body: the header `x-amz-content-sha256`.

use super::{UNSIGNED_PAYLOAD, X_AMZ_CONTENT_SHA256};
use crate::error::{ErrorCode, S3Error};
use const_hex as hex;
use std::borrow::Cow;

/// How a body is signed and encoded.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Payload {
    /// The body as it is. Its SHA-256 is part of the signed request.
    Sha256([u8; 32]),
    /// The body as it is, not signed.
    Unsigned,
    /// Chunks, each with a signature.
    StreamingSigned,
    /// Chunks, each with a signature, then trailers with one.
    StreamingSignedTrailer,
    /// Chunks, then trailers, nothing of it signed.
    StreamingUnsignedTrailer,
}

const STREAMING_SIGNED: &str = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD";
const STREAMING_SIGNED_TRAILER: &str = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER";
const STREAMING_UNSIGNED_TRAILER: &str = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";

/// The forms of Signature Version 4A.
const ASYMMETRIC: [&str; 2] =
    ["STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD", "STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD-TRAILER"];

const INVALID: &str = "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, STREAMING-UNSIGNED-PAYLOAD-TRAILER, \
                       STREAMING-AWS4-HMAC-SHA256-PAYLOAD, STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER, \
                       STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD, STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD-TRAILER or a \
                       valid sha256 value.";

impl Payload {
    /// Reads the value of the header.
    ///
    /// # Errors
    /// `NotImplemented` for the forms of Signature Version 4A, `InvalidArgument` for anything else that is not a form.
    pub fn parse(value: &str) -> Result<Payload, S3Error> {
        match value {
            UNSIGNED_PAYLOAD => Ok(Payload::Unsigned),
            STREAMING_SIGNED => Ok(Payload::StreamingSigned),
            STREAMING_SIGNED_TRAILER => Ok(Payload::StreamingSignedTrailer),
            STREAMING_UNSIGNED_TRAILER => Ok(Payload::StreamingUnsignedTrailer),
            _ if ASYMMETRIC.contains(&value) => Err(S3Error::new(ErrorCode::NotImplemented)
                .with_message(format!("The chunk encoding algorithm {value} is not supported."))),
            _ => match sha256_from_hex(value) {
                Some(digest) => Ok(Payload::Sha256(digest)),
                None => Err(S3Error::invalid_argument(X_AMZ_CONTENT_SHA256, value, INVALID)),
            },
        }
    }

    /// Returns the value of the header.
    pub fn as_str(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Payload::Sha256(digest) => {
                return Cow::Owned(hex::Buffer::<32>::new().const_format(digest).as_str().to_owned());
            }
            Payload::Unsigned => UNSIGNED_PAYLOAD,
            Payload::StreamingSigned => STREAMING_SIGNED,
            Payload::StreamingSignedTrailer => STREAMING_SIGNED_TRAILER,
            Payload::StreamingUnsignedTrailer => STREAMING_UNSIGNED_TRAILER,
        })
    }

    /// Returns whether the body comes in chunks, in the encoding `aws-chunked`.
    pub const fn is_streaming(&self) -> bool {
        matches!(self, Payload::StreamingSigned | Payload::StreamingSignedTrailer | Payload::StreamingUnsignedTrailer)
    }

    /// Returns whether each chunk has a signature.
    pub const fn has_signed_chunks(&self) -> bool {
        matches!(self, Payload::StreamingSigned | Payload::StreamingSignedTrailer)
    }

    /// Returns whether trailers can follow the chunks.
    pub const fn has_trailers(&self) -> bool {
        matches!(self, Payload::StreamingSignedTrailer | Payload::StreamingUnsignedTrailer)
    }
}

/// 32 bytes from 64 hexadecimal digits of either case, and from nothing else.
pub(crate) fn sha256_from_hex(text: impl AsRef<[u8]>) -> Option<[u8; 32]> {
    // Of 64 bytes, a prefix `0x` that the decoder would take leaves too few.
    let digits: &[u8; 64] = text.as_ref().try_into().ok()?;
    hex::decode_to_array(digits).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        let digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        for value in [digest, UNSIGNED_PAYLOAD, STREAMING_SIGNED, STREAMING_SIGNED_TRAILER, STREAMING_UNSIGNED_TRAILER]
        {
            let payload = Payload::parse(value).unwrap();
            assert_eq!(payload.as_str(), value);
            assert_eq!(payload.is_streaming(), value.starts_with("STREAMING"));
            assert_eq!(payload.has_trailers(), value.ends_with("TRAILER"));
            assert_eq!(payload.has_signed_chunks(), value.contains("HMAC"));
        }
        assert_eq!(Payload::parse(&digest.to_uppercase()), Payload::parse(digest));

        for value in ASYMMETRIC {
            let error = Payload::parse(value).unwrap_err();
            assert_eq!((error.status().as_u16(), error.code), (501, ErrorCode::NotImplemented));
            assert_eq!(error.message, format!("The chunk encoding algorithm {value} is not supported."));
        }
        let prefixed = format!("0x{}", &digest[2..]);
        for value in ["", "invalid_sha256", "unsigned-payload", &digest[1..], &prefixed] {
            let error = Payload::parse(value).unwrap_err();
            assert_eq!(error.code, ErrorCode::InvalidArgument, "{value}");
            assert!(error.message.ends_with("or a valid sha256 value."), "{}", error.message);
        }
    }
}
