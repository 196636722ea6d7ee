//! The chain of signatures through a body.

use crate::error::{ErrorCode, S3Error};
use crate::sign::{self, Credentials, SERVICE, Signature, SigningKey, sha256};
use crate::time;
use const_hex as hex;
use jiff::Timestamp;

/// The signatures of a body's chunks, each over the one before.
///
/// The same for both sides: a client asks for the next signature, a server compares it with the one that was sent.
#[derive(Clone, Debug)]
pub struct SignatureChain {
    key: SigningKey,
    /// When the request was signed, and the scope of the key: two lines.
    moment_and_scope: String,
    previous: Signature,
}

/// What stands where a chunk's headers would: SHA-256 of nothing.
const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

impl SignatureChain {
    /// Starts from the signature of the request, the seed. `timestamp` and `scope` are those of the request.
    pub fn new(key: SigningKey, timestamp: Timestamp, scope: &str, seed: Signature) -> SignatureChain {
        let moment_and_scope = format!("{}\n{scope}", time::amz_date(timestamp));
        SignatureChain { key, moment_and_scope, previous: seed }
    }

    /// Starts from the signature that [`sign`](crate::sign::sign) returned for a request.
    pub fn of_request(credentials: &Credentials, region: &str, now: Timestamp, seed: Signature) -> SignatureChain {
        let day = time::amz_day(now);
        let key = SigningKey::derive(credentials.secret_key(), &day, region, SERVICE);
        SignatureChain::new(key, now, &sign::scope(&day, region), seed)
    }

    /// Signs the next chunk, the empty last one included.
    pub fn sign_chunk(&mut self, sha256: &[u8; 32]) -> Signature {
        self.sign("AWS4-HMAC-SHA256-PAYLOAD", Some(EMPTY), sha256)
    }

    /// Signs the trailers, after the last chunk. Names are in lower case.
    pub fn sign_trailers(&mut self, trailers: &[(String, String)]) -> Signature {
        let text: String = trailers.iter().flat_map(|(name, value)| [name, ":", value, "\n"]).collect();
        self.sign("AWS4-HMAC-SHA256-TRAILER", None, &sha256(text))
    }

    fn sign(&mut self, algorithm: &str, headers: Option<&str>, sha256: &[u8; 32]) -> Signature {
        let (previous, digest) = (self.previous.to_string(), hex::Buffer::<32>::new().const_format(sha256));
        let lines = [Some(algorithm), Some(&self.moment_and_scope), Some(&previous), headers, Some(digest.as_str())];
        let lines: Vec<&str> = lines.into_iter().flatten().collect();
        self.previous = self.key.sign(lines.join("\n"));
        self.previous
    }

    /// Verifies the signature of the next chunk, the empty last one included.
    ///
    /// # Errors
    /// `SignatureDoesNotMatch`. Nothing can follow then.
    pub fn chunk(&mut self, sha256: &[u8; 32], claimed: &[u8; 32]) -> Result<(), S3Error> {
        verdict(self.sign_chunk(sha256), claimed)
    }

    /// Verifies the signature of the trailers, as [`Event::End`](super::Event::End) has them.
    ///
    /// # Errors
    /// `SignatureDoesNotMatch`.
    pub fn trailer(&mut self, trailers: &[(String, String)], claimed: &[u8; 32]) -> Result<(), S3Error> {
        verdict(self.sign_trailers(trailers), claimed)
    }
}

fn verdict(signature: Signature, claimed: &[u8; 32]) -> Result<(), S3Error> {
    let claimed = Signature::from_bytes(*claimed);
    if signature == claimed {
        return Ok(());
    }
    Err(S3Error::from(ErrorCode::SignatureDoesNotMatch).with("SignatureProvided", claimed))
}
