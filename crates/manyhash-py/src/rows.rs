//! How the rows of a column are hashed: as they are, or under a key.

use manyhash::{Algorithm, Batch};

pub(crate) fn batch(algorithm: Algorithm, key: Option<&[u8]>) -> Batch {
    let batch = Batch::new(algorithm);
    match key {
        None => batch,
        Some(key) => batch.key(key),
    }
}
