//! Signing keys, the signatures that they make, and a cache of them.

use super::{Authorization, TERMINATOR};
use const_hex as hex;
use manyhash::{Algorithm, Batch, Sha256};
use std::collections::HashMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// A digest by the one function of this version of signatures.
pub(crate) fn sha256(bytes: impl AsRef<[u8]>) -> [u8; 32] {
    Sha256::digest(bytes)
}

/// The key that signs the requests of one access key, on one day, in one region, to one service.
///
/// A clone is the same key in the same memory, which is wiped when the last of them is dropped.
#[derive(Clone)]
pub struct SigningKey(Arc<Batch>);

impl SigningKey {
    /// Derives the key from a secret: a chain of four HMACs over the day (`20130524`), the region, the service and a
    /// constant.
    pub fn derive(secret: &str, day: &str, region: &str, service: &str) -> SigningKey {
        let hmac = |key: &[u8]| Batch::new(Algorithm::Sha256).key(key);
        let secret = Zeroizing::new(["AWS4", secret].concat());
        let key = [day, region, service, TERMINATOR]
            .iter()
            .fold(hmac(secret.as_bytes()), |key, part| hmac(key.digest(part).as_bytes()));
        SigningKey(Arc::new(key))
    }

    /// Signs a text.
    pub fn sign(&self, text: impl AsRef<[u8]>) -> Signature {
        let mut signature = [0; 32];
        signature.copy_from_slice(self.0.digest(text).as_bytes());
        Signature(signature)
    }
}

/// Shows nothing of the key.
impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").finish_non_exhaustive()
    }
}

/// The signature of a request, a chunk or a trailer: an HMAC-SHA256.
///
/// `Display` writes it as requests do, in lower-case hexadecimal. Comparing two takes the same time wherever they
/// differ.
#[derive(Clone, Copy)]
pub struct Signature([u8; 32]);

impl Signature {
    /// Creates a signature from its bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Signature {
        Signature(bytes)
    }

    /// Returns the bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    pub(super) fn hex(&self) -> hex::Buffer<32> {
        hex::Buffer::new().const_format(&self.0)
    }
}

impl PartialEq for Signature {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for Signature {}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.hex().as_str())
    }
}

/// Shows nothing of the signature, with which a request could be sent again.
impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signature").finish_non_exhaustive()
    }
}

/// Signing keys that were derived before, by access key, day, region and service.
///
/// Deriving a key takes longer than verifying a short request with it. The key longest unused makes room for another.
/// An access key whose secret has changed gets a new one.
pub struct KeyCache {
    capacity: NonZeroUsize,
    keys: Mutex<Keys>,
}

#[derive(Default)]
struct Keys {
    entries: HashMap<String, Entry>,
    /// Counts uses, so that the one longest ago is known.
    uses: u64,
}

struct Entry {
    secret: Zeroizing<String>,
    key: SigningKey,
    used: u64,
}

impl KeyCache {
    /// Creates a cache of at most so many keys.
    pub fn new(capacity: NonZeroUsize) -> KeyCache {
        KeyCache { capacity, keys: Mutex::default() }
    }

    /// Returns the key that this request must have been signed with, if `secret` is that of its access key.
    pub fn get(&self, authorization: &Authorization, secret: &str) -> SigningKey {
        let Authorization { access_key, date, region, service, .. } = authorization;
        // No part of a credential has a slash.
        let name = [access_key, date, region, service].map(String::as_str).join("/");
        if let Some(key) = self.find(&name, secret) {
            return key;
        }
        // Nobody waits for the derivation; two that derive the same key at once do no harm.
        let key = SigningKey::derive(secret, date, region, service);
        self.insert(name, secret, &key);
        key
    }

    fn find(&self, name: &str, secret: &str) -> Option<SigningKey> {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.uses += 1;
        let uses = keys.uses;
        let entry = keys.entries.get_mut(name)?;
        entry.used = uses;
        let is_same: bool = entry.secret.as_bytes().ct_eq(secret.as_bytes()).into();
        is_same.then(|| entry.key.clone())
    }

    fn insert(&self, name: String, secret: &str, key: &SigningKey) {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if keys.entries.len() >= self.capacity.get() && !keys.entries.contains_key(&name) {
            let oldest = keys.entries.iter().min_by_key(|(_, entry)| entry.used).map(|(name, _)| name.clone());
            oldest.and_then(|oldest| keys.entries.remove(&oldest));
        }
        let entry = Entry { secret: Zeroizing::new(secret.to_owned()), key: key.clone(), used: keys.uses };
        keys.entries.insert(name, entry);
    }
}

/// Holds 1,024 keys.
impl Default for KeyCache {
    fn default() -> Self {
        KeyCache::new(const { NonZeroUsize::new(1024).unwrap() })
    }
}

/// Shows the capacity.
impl fmt::Debug for KeyCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyCache").field("capacity", &self.capacity).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// AWS: "Deriving a signing key", General Reference.
    #[test]
    fn a_documented_key() {
        let key = SigningKey::derive("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "20150830", "us-east-1", "iam");
        let text = "AWS4-HMAC-SHA256\n20150830T123600Z\n20150830/us-east-1/iam/aws4_request\n\
                    f536975d06c0309214f805bb90ccff089219ecd68b2577efef23edd43b7e1a59";
        let signature = "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7";
        assert_eq!(key.sign(text).to_string(), signature);
    }

    fn authorization(access_key: &str) -> Authorization {
        let header = format!(
            "AWS4-HMAC-SHA256 Credential={access_key}/20130524/us-east-1/s3/aws4_request, SignedHeaders=host, \
             Signature=0"
        );
        let mut headers = http::HeaderMap::new();
        headers.insert("x-amz-date", http::HeaderValue::from_static("20130524T000000Z"));
        headers.insert("authorization", header.parse().unwrap());
        Authorization::from_request(&http::Uri::from_static("/"), &headers).unwrap().unwrap()
    }

    #[test]
    fn a_cache_keeps_what_is_in_use() {
        let cache = KeyCache::new(NonZeroUsize::new(2).unwrap());
        let is_cached = |access_key: &str, secret: &str| {
            let name = format!("{access_key}/20130524/us-east-1/s3");
            cache.find(&name, secret).is_some()
        };
        let [one, two, three] = ["one", "two", "three"].map(authorization);
        let signature = cache.get(&one, "secret").sign("text");
        assert_eq!(signature, SigningKey::derive("secret", "20130524", "us-east-1", "s3").sign("text"));
        cache.get(&two, "secret");
        assert_eq!(cache.get(&one, "secret").sign("text"), signature);
        cache.get(&three, "secret");
        assert_eq!(["one", "two", "three"].map(|name| is_cached(name, "secret")), [true, false, true]);

        // A changed secret is a changed key, in the place of the old one.
        let changed = cache.get(&one, "another").sign("text");
        assert_ne!(changed, signature);
        assert_eq!(cache.get(&one, "another").sign("text"), changed);
        assert_eq!([is_cached("one", "secret"), is_cached("three", "secret")], [false, true]);
    }

    #[test]
    fn nothing_secret_is_shown() {
        let key = SigningKey::derive("secret", "20130524", "us-east-1", "s3");
        let cache = KeyCache::default();
        cache.get(&authorization("one"), "secret");
        let shown = format!("{key:?} {:?} {cache:?}", key.sign("text"));
        assert_eq!(shown, "SigningKey { .. } Signature { .. } KeyCache { capacity: 1024, .. }");
    }
}
