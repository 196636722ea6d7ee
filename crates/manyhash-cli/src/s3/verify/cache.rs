//! The digest cache, for files of a side.

use manyhash::{Digest, HashFunction};
use manyhash_s3_client::verify::DigestCache;
use manysum::cache::{Cache, Stamp};
use std::fs::Metadata;
use std::path::Path;
use std::sync::Weak;

/// Digests that the cache has, and will have. Threads that hold it do not keep the cache from being finished.
pub(super) struct Digests(pub(super) Weak<Cache>);

impl DigestCache for Digests {
    fn find(&self, path: &Path, function: HashFunction) -> Option<(u64, Digest)> {
        let stamp = Stamp::of(&path.symlink_metadata().ok()?)?;
        let cache = self.0.upgrade()?;
        let digests = cache.reader(&[function]).find_at(path, &stamp)?;
        Some((stamp.size(), *digests.first()?))
    }

    fn keep(&self, path: &Path, metadata: &Metadata, function: HashFunction, digest: &Digest) {
        if let Some(cache) = self.0.upgrade() {
            cache.store_settled(&[function], path, metadata, &[*digest]);
        }
    }
}
