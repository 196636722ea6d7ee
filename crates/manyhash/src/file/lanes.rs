//! The files that one core has in hand, each with a chunk of its bytes.

use super::open::{CHUNK, Filled, OpenFile};
use super::ordered::lock;
use super::pace::Way;
use super::{Digested, Shared};
use crate::Digest;
use crate::function::Hashes;
use std::io;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// A file in hand.
pub(super) struct InHand<T> {
    pub(super) number: u64,
    pub(super) tag: T,
    pub(super) file: OpenFile,
    pub(super) hashes: Hashes,
}

/// The files in hand.
pub(super) struct Lanes<'s, 'a, 'f, T> {
    shared: &'s Shared<'a, 'f, T>,
    /// Apart from the files, so that they can be advanced together.
    hashes: Vec<Hashes>,
    files: Vec<Open<T>>,
    /// At least one for each file; those left over wait for the next.
    chunks: Vec<Box<[u8]>>,
}

struct Open<T> {
    number: u64,
    tag: T,
    file: OpenFile,
}

impl<'s, 'a, 'f, T> Lanes<'s, 'a, 'f, T> {
    pub(super) fn new(shared: &'s Shared<'a, 'f, T>) -> Self {
        Lanes { shared, hashes: Vec::new(), files: Vec::new(), chunks: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.files.len()
    }

    pub(super) fn push(&mut self, in_hand: InHand<T>) {
        let InHand { number, tag, file, hashes } = in_hand;
        if self.chunks.len() == self.len() {
            // Not all a power of two apart, where they would meet in the same sets of a cache.
            self.chunks.push(vec![0; CHUNK + 64].into_boxed_slice());
        }
        self.hashes.push(hashes);
        self.files.push(Open { number, tag, file });
    }

    /// Takes out a file; the last one takes its place and its chunk changes places too.
    fn remove(&mut self, i: usize) -> InHand<T> {
        let last = self.len() - 1;
        self.chunks.swap(i, last);
        let Open { number, tag, file } = self.files.swap_remove(i);
        InHand { number, tag, file, hashes: self.hashes.swap_remove(i) }
    }

    /// Takes out half of the files, whose chunks are empty.
    pub(super) fn take_half(&mut self) -> Vec<InHand<T>> {
        (0..self.len() / 2).map(|_| self.remove(self.len() - 1)).collect()
    }

    /// Takes a file, and what of its first chunk is in memory. What is not has been asked for then; where the disk would
    /// rather read one file at a time, the file is given back.
    pub(super) fn begin(&mut self, in_hand: InHand<T>) -> Option<InHand<T>> {
        self.push(in_hand);
        let i = self.len() - 1;
        match self.files[i].file.fill(&mut self.chunks[i][..CHUNK], Way::Read, false) {
            Ok(Filled::Yes) => None,
            Ok(Filled::Cold) => self.shared.disks.rotates(self.files[i].file.metadata()).then(|| self.remove(i)),
            Err(error) => {
                self.fail(i, error);
                None
            }
        }
    }

    /// Gets a chunk of each file, and hashes them.
    pub(super) fn turn(&mut self) {
        let (way, start) = (lock(&self.shared.pace).way(), Instant::now());
        self.read(way);
        let bytes = self.advance();
        lock(&self.shared.pace).took(way, bytes, start.elapsed());
    }

    /// Gets a chunk of each file that has none. Those that cannot be read are done with.
    fn read(&mut self, way: Way) {
        let mut i = 0;
        while i < self.len() {
            match self.files[i].file.fill(&mut self.chunks[i][..CHUNK], way, true) {
                Ok(_) => i += 1,
                Err(error) => self.fail(i, error),
            }
        }
    }

    fn fail(&mut self, i: usize, error: io::Error) {
        let InHand { number, tag, .. } = self.remove(i);
        self.shared.closed(1);
        self.shared.done([(number, tag, Err(error))]);
    }

    /// Hashes the chunks, so many bytes, and is done with the files that have ended.
    fn advance(&mut self) -> u64 {
        let mut bytes = 0;
        let chunks = self.chunks.iter().zip(&self.files).map(|(buffer, open)| {
            let chunk = open.file.chunk(buffer);
            bytes += chunk.len() as u64;
            chunk
        });
        Hashes::update_many(self.hashes.iter_mut().zip(chunks));
        self.shared.count(bytes);

        let (mut ended, mut messages) = (Vec::new(), Vec::new());
        for i in (0..self.len()).rev() {
            if let Err(error) = self.files[i].file.hashed() {
                self.fail(i, error);
            } else if self.files[i].file.has_ended() {
                let InHand { number, tag, file, hashes } = self.remove(i);
                ended.push((number, tag, file));
                messages.push(hashes);
            }
        }
        if ended.is_empty() {
            return bytes;
        }
        let digests = Hashes::finalize_many(self.shared.files.functions, messages);
        let ended = ended.into_iter().zip(digests);
        // Closed before the lock is taken.
        let ended: Vec<_> =
            ended.map(|((number, tag, file), digests)| (number, tag, Ok(file.close(digests)))).collect();
        self.shared.closed(ended.len());
        self.shared.done(ended);
        bytes
    }
}

impl OpenFile {
    /// What came of it.
    pub(super) fn close(mut self, digests: Vec<Digest>) -> Digested {
        Digested { digests, bytes: self.offset(), settled: self.settled() }
    }
}

impl<T> Shared<'_, '_, T> {
    /// Gives results to the sink when their turn has come.
    pub(super) fn done(&self, done: impl IntoIterator<Item = (u64, T, io::Result<Digested>)>) {
        self.ordered.done(done, || self.handover.advance());
    }

    /// So many more bytes are hashed.
    pub(super) fn count(&self, bytes: u64) {
        if let Some(counter) = self.files.counter {
            counter.fetch_add(bytes, Ordering::Relaxed);
        }
    }
}
