//! Keys of the index's tables.

/// The name of a blob: its SHA-256, and a number that no other blob ever has.
///
/// In the order of these keys, all blobs with one digest are neighbours.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct BlobKey(pub(crate) [u8; 40]);

impl BlobKey {
    pub(crate) fn new(sha256: &[u8; 32], id: u64) -> Self {
        let mut key = [0; 40];
        let (digest, number) = key.split_at_mut(32);
        digest.copy_from_slice(sha256);
        number.copy_from_slice(&id.to_be_bytes());
        BlobKey(key)
    }

    pub(crate) fn sha256(&self) -> [u8; 32] {
        let mut sha256 = [0; 32];
        sha256.copy_from_slice(self.0.split_at(32).0);
        sha256
    }

    pub(crate) fn id(&self) -> u64 {
        let mut id = [0; 8];
        id.copy_from_slice(self.0.split_at(32).1);
        u64::from_be_bytes(id)
    }
}

/// The key of an object: the bucket, which has no NUL, a NUL, and the key. Its order is that of the buckets, and in a
/// bucket that of the keys' bytes.
pub(crate) fn object_key(bucket: &str, key: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(bucket.len() + 1 + key.len());
    bytes.extend_from_slice(bucket.as_bytes());
    bytes.push(0);
    bytes.extend_from_slice(key.as_bytes());
    bytes
}

/// Reads what [`object_key`] has written.
pub(crate) fn split_object_key(bytes: &[u8]) -> Option<(&str, &str)> {
    let nul = bytes.iter().position(|byte| *byte == 0)?;
    let (bucket, key) = bytes.split_at_checked(nul)?;
    Some((str::from_utf8(bucket).ok()?, str::from_utf8(key.split_first()?.1).ok()?))
}

#[cfg(test)]
mod tests {
    use super::{BlobKey, object_key, split_object_key};

    #[test]
    fn keys_are_read_back() {
        let key = BlobKey::new(&[7; 32], 1 << 40);
        assert_eq!((key.sha256(), key.id()), ([7; 32], 1 << 40));
        assert!(BlobKey::new(&[7; 32], 255) < BlobKey::new(&[7; 32], 256));
        assert_eq!(split_object_key(&object_key("bucket", "a\0key")), Some(("bucket", "a\0key")));
        assert_eq!(split_object_key(b"no NUL"), None);
        assert_eq!(split_object_key(b"bucket\0\xff"), None);
    }
}
