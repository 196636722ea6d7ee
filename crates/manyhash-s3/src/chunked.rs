//! Bodies in the encoding `aws-chunked`: chunks with lengths, and perhaps signatures and trailers.
//!
//! ```text
//! 10000;chunk-signature=ad80c730...      length in hexadecimal; the signature only if chunks are signed
//! <65,536 bytes>
//! 0;chunk-signature=b6c6ea8a...          the last chunk is empty
//! x-amz-checksum-crc32c:sOO8/Q==         trailers, if the header `x-amz-trailer` announced them
//! x-amz-trailer-signature:d81f82fc...    only if chunks are signed
//!                                        an empty line
//! ```
//!
//! All lines end in CR LF. A chunk's signature is over the one before and the SHA-256 of its data (AWS: "Transferring
//! Payload in Multiple Chunks", "Including Trailing Headers"). Only the short texts make a chain; **the digests of chunks
//! do not depend on one another**, so a caller can have many of one body computed at once. That is why the
//! [`Decoder`] only takes bytes apart, and the [`SignatureChain`] only takes digests:
//!
//! ```
//! use bytes::Bytes;
//! use manyhash_s3::S3Error;
//! use manyhash_s3::chunked::{Decoder, Event};
//! use manyhash_s3::sign::Payload;
//!
//! let mut decoder = Decoder::new(Payload::StreamingUnsignedTrailer, 11, ["x-amz-checksum-crc32"]);
//! let mut body = Vec::new();
//! for piece in ["b\r\nhello ", "world\r\n0\r\nx-amz-checksum-crc32:DUoRhQ==\r\n\r\n"] {
//!     decoder.push(Bytes::from(piece));
//!     while let Some(event) = decoder.next()? {
//!         match event {
//!             Event::Data(bytes) => body.extend(bytes),
//!             Event::ChunkEnd { .. } => {}
//!             Event::End { trailers, .. } => {
//!                 assert_eq!(trailers, [("x-amz-checksum-crc32".to_owned(), "DUoRhQ==".to_owned())]);
//!             }
//!             _ => {}
//!         }
//!     }
//! }
//! decoder.finish()?;
//! assert_eq!(body, b"hello world");
//! # Ok::<(), S3Error>(())
//! ```

mod chain;
mod decoder;
mod encoder;
mod input;
mod trailers;

#[cfg(test)]
mod tests;

pub use chain::SignatureChain;
pub use decoder::{Decoder, Event};
pub use encoder::{Encoder, encoded_length};

use crate::checksum::ChecksumAlgorithm;
use crate::error::{ErrorCode, S3Error};
use http::HeaderMap;

/// The least length of a chunk that is not the last with data.
pub const MIN_CHUNK_BYTES: u64 = 8192;

const CHUNK_SIGNATURE: &str = "chunk-signature=";
const TRAILER_SIGNATURE: &str = "x-amz-trailer-signature";

/// Reads the length that the decoded body will have: the header `x-amz-decoded-content-length`.
///
/// # Errors
/// `MissingContentLength` if there is none, or if it is no length.
pub fn decoded_length(headers: &HeaderMap) -> Result<u64, S3Error> {
    headers
        .get("x-amz-decoded-content-length")
        .map(|value| value.as_bytes())
        .filter(|digits| digits.iter().all(u8::is_ascii_digit))
        .and_then(|digits| str::from_utf8(digits).ok()?.parse().ok())
        .ok_or(ErrorCode::MissingContentLength.into())
}

/// Reads the names of the trailers that will follow, in lower case: the header `x-amz-trailer`.
///
/// # Errors
/// `InvalidRequest` if one of them is not a checksum's, which S3 does not take.
pub fn announced_trailers(headers: &HeaderMap) -> Result<Vec<String>, S3Error> {
    let mut names = Vec::new();
    for value in headers.get_all("x-amz-trailer") {
        let list = value.to_str().map_err(|_| S3Error::unsupported_trailer())?;
        for name in list.split(',').map(str::trim_ascii).filter(|name| !name.is_empty()) {
            let algorithm = ChecksumAlgorithm::from_header(name).ok_or_else(S3Error::unsupported_trailer)?;
            names.push(algorithm.header().to_owned());
        }
    }
    Ok(names)
}
