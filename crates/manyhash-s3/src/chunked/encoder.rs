//! Bodies put into chunks, for a client.

use super::{CHUNK_SIGNATURE, TRAILER_SIGNATURE};
use crate::sign::{Payload, Signature};
use bytes::Bytes;
use std::num::NonZeroU64;

/// Makes what goes around the data of chunks. The data itself is sent as it is.
///
/// ```
/// use manyhash_s3::chunked::Encoder;
///
/// let mut encoder = Encoder::new();
/// let trailers = [("x-amz-checksum-crc32".to_owned(), "DUoRhQ==".to_owned())];
/// let body = [&encoder.head(11, None)[..], b"hello world", &encoder.end(None, &trailers, None)].concat();
/// assert_eq!(body, b"b\r\nhello world\r\n0\r\nx-amz-checksum-crc32:DUoRhQ==\r\n\r\n");
/// ```
#[derive(Clone, Default, Debug)]
pub struct Encoder {
    /// Whether data came before, whose line is not ended.
    has_data: bool,
}

impl Encoder {
    /// Begins a body.
    pub fn new() -> Encoder {
        Encoder::default()
    }

    /// Makes what precedes a chunk of so many bytes, at least 1. The signature is that of
    /// [`SignatureChain::sign_chunk`](super::SignatureChain::sign_chunk), if chunks are signed.
    ///
    /// All chunks but the last with data must have at least [`MIN_CHUNK_BYTES`](super::MIN_CHUNK_BYTES).
    pub fn head(&mut self, length: u64, signature: Option<&Signature>) -> Bytes {
        let mut text = String::from(if self.has_data { "\r\n" } else { "" });
        push_head(&mut text, length, signature);
        self.has_data = true;
        text.into()
    }

    /// Makes all that follows the data of the last chunk: the empty chunk, the trailers, and their signature, if chunks
    /// are signed and trailers were announced.
    pub fn end(
        self,
        signature: Option<&Signature>,
        trailers: &[(String, String)],
        trailer_signature: Option<&Signature>,
    ) -> Bytes {
        let mut text = String::from(if self.has_data { "\r\n" } else { "" });
        push_head(&mut text, 0, signature);
        for (name, value) in trailers {
            text.extend([name, ":", value, "\r\n"]);
        }
        if let Some(signature) = trailer_signature {
            text.extend([TRAILER_SIGNATURE, ":", &signature.to_string(), "\r\n"]);
        }
        text.push_str("\r\n");
        text.into()
    }
}

/// What a signature adds to the line before a chunk.
const HEAD_SIGNATURE_BYTES: u64 = (";".len() + CHUNK_SIGNATURE.len() + 64) as u64;

fn push_head(text: &mut String, length: u64, signature: Option<&Signature>) {
    text.push_str(&format!("{length:x}"));
    if let Some(signature) = signature {
        text.extend([";", CHUNK_SIGNATURE, &signature.to_string()]);
    }
    text.push_str("\r\n");
}

/// Returns the length of a body when it is encoded, for the header `content-length`, or `None` if it is too long for
/// any.
///
/// All chunks have the same length but the last. Trailers are given by the lengths of their names and values. A payload
/// that does not come in chunks has the length of its data.
///
/// ```
/// use manyhash_s3::chunked::encoded_length;
/// use manyhash_s3::sign::Payload;
/// use std::num::NonZeroU64;
///
/// // AWS's example of a signed body: 65 KiB in chunks of 64 KiB.
/// let length = encoded_length(Payload::StreamingSigned, 66_560, NonZeroU64::new(65_536).unwrap(), &[]);
/// assert_eq!(length, Some(66_824));
/// ```
pub fn encoded_length(
    payload: Payload,
    decoded_length: u64,
    chunk_length: NonZeroU64,
    trailers: &[(usize, usize)],
) -> Option<u64> {
    if !payload.is_streaming() {
        return Some(decoded_length);
    }
    let signature = if payload.has_signed_chunks() { HEAD_SIGNATURE_BYTES } else { 0 };
    let head = |length: u64| u64::from(length.checked_ilog2().unwrap_or(0) / 4) + 1 + signature + 2;
    let chunk = |length: u64| head(length).checked_add(length)?.checked_add(2);
    let (whole, rest) = (decoded_length / chunk_length, decoded_length % chunk_length);
    let whole = if whole == 0 { 0 } else { chunk(chunk_length.get())?.checked_mul(whole)? };
    let rest = if rest == 0 { 0 } else { chunk(rest)? };
    let mut length = whole.checked_add(rest)?.checked_add(head(0))?.checked_add(2)?;
    if payload.has_trailers() {
        let own = payload.has_signed_chunks().then_some((TRAILER_SIGNATURE.len(), 64));
        for (name, value) in trailers.iter().copied().chain(own) {
            let line = name.checked_add(value)?.checked_add(3)?;
            length = length.checked_add(line.try_into().ok()?)?;
        }
    }
    Some(length)
}
