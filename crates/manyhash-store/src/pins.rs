//! Blobs that stay although nothing refers to them.

use crate::index::BlobKey;
use crate::store::Shared;
use crate::{Extent, ReadError};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};

/// A blob that stays as long as this lives, whatever is deleted.
#[derive(Debug)]
pub struct Pin {
    shared: Arc<Shared>,
    extent: Extent,
}

impl Pin {
    /// Pins a blob with this digest, if there is one.
    pub(crate) fn find(shared: &Arc<Shared>, sha256: &[u8; 32]) -> Result<Option<Pin>, ReadError> {
        let Some((key, blob)) = shared.index.snapshot()?.find_blob(sha256)? else {
            return Ok(None);
        };
        Pin::new(shared, Extent::new(&key, blob.length))
    }

    /// Pins the blob of an extent, if it is still there.
    pub(crate) fn new(shared: &Arc<Shared>, extent: Extent) -> Result<Option<Pin>, ReadError> {
        let key = extent.key();
        if !shared.pins.acquire(&key) {
            return Ok(None);
        }
        let pin = Pin { shared: shared.clone(), extent };
        // It may have gone before it was pinned.
        let is_there = shared.index.snapshot()?.blob(&key)?.is_some();
        Ok(is_there.then_some(pin))
    }

    /// Returns the blob's digest.
    pub fn sha256(&self) -> &[u8; 32] {
        &self.extent.sha256
    }

    /// Returns the blob's length in bytes.
    pub fn length(&self) -> u64 {
        self.extent.length
    }

    /// Returns the blob as an extent, to be read.
    pub fn extent(&self) -> &Extent {
        &self.extent
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        self.shared.pins.release(&self.extent.key());
    }
}

/// Which blobs are pinned, and which cannot be any more.
///
/// The writer *retires* a blob before it forgets it. From then until the transaction is durable that forgets it, nobody
/// can pin it; and nobody can afterwards, since the index does not have it any more. A blob that is pinned cannot be
/// retired: it goes to the trash and stays there.
#[derive(Debug, Default)]
pub(crate) struct Pins {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    pinned: HashMap<BlobKey, usize>,
    retired: HashSet<BlobKey>,
}

impl Pins {
    fn acquire(&self, key: &BlobKey) -> bool {
        let mut state = self.lock();
        let is_there = !state.retired.contains(key);
        if is_there {
            *state.pinned.entry(*key).or_default() += 1;
        }
        is_there
    }

    fn release(&self, key: &BlobKey) {
        let mut state = self.lock();
        if let Some(count) = state.pinned.get_mut(key) {
            *count -= 1;
            if *count == 0 {
                state.pinned.remove(key);
            }
        }
    }

    /// Whether nobody has pinned the blob. From then on nobody can, until [`Pins::settle`].
    pub(crate) fn retire(&self, key: &BlobKey) -> bool {
        let mut state = self.lock();
        let is_free = !state.pinned.contains_key(key);
        if is_free {
            state.retired.insert(*key);
        }
        is_free
    }

    pub(crate) fn is_pinned(&self, key: &BlobKey) -> bool {
        self.lock().pinned.contains_key(key)
    }

    /// Ends what [`Pins::retire`] began: the index says now which blobs there are.
    pub(crate) fn settle(&self) {
        self.lock().retired.clear();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poison| poison.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::Pins;
    use crate::index::BlobKey;

    #[test]
    fn a_blob_is_pinned_or_retired() {
        let (pins, key) = (Pins::default(), BlobKey::new(&[1; 32], 1));
        assert!(pins.acquire(&key) && pins.acquire(&key));
        assert!(!pins.retire(&key));
        pins.release(&key);
        assert!(!pins.retire(&key) && pins.is_pinned(&key));
        pins.release(&key);
        assert!(!pins.is_pinned(&key) && pins.retire(&key));
        assert!(!pins.acquire(&key));
        pins.settle();
        assert!(pins.acquire(&key));
    }
}
