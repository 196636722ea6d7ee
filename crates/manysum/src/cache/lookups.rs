//! Look-ups while files are hashed.

use super::{Cache, Reader, Stamp};
use manyhash::file::Source;
use manyhash::{Digest, HashFunction};

/// Look-ups after which a reader is replaced: for as long as one is there, the file of the cache grows.
const LOOKUPS: usize = 1024;

/// Looks files up one after another, over any time.
pub(crate) struct Lookups<'a> {
    cache: &'a Cache,
    functions: &'a [HashFunction],
    reader: Reader<'a>,
    left: usize,
}

impl<'a> Lookups<'a> {
    pub(crate) fn new(cache: &'a Cache, functions: &'a [HashFunction]) -> Self {
        Lookups { cache, functions, reader: cache.reader(functions), left: LOOKUPS }
    }

    /// A source, or the digests that the file has that it leads to.
    pub(crate) fn source(&mut self, source: Source) -> Source {
        self.find(&source).map_or(source, Source::Known)
    }

    fn find(&mut self, source: &Source) -> Option<Vec<Digest>> {
        let Source::Path(path) = source else { return None };
        if self.left == 0 {
            (self.reader, self.left) = (self.cache.reader(self.functions), LOOKUPS);
        }
        self.left -= 1;
        self.reader.find_at(path, &Stamp::of(&path.metadata().ok()?)?)
    }
}
