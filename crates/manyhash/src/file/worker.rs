//! One core's share of the files.

use super::Input;
use super::handover::Handover;
use super::ordered::{Ordered, Take, Taken};
use crate::function::Hashes;
use crate::{Digest, Function};
use std::fs::File;
use std::io::{self, BufReader, Read};

/// Bytes read from a file at a time: few system calls, and the chunks of all lanes stay in a core's own cache.
const CHUNK: usize = 32 << 10;

/// Files in hand at once, on each core: enough to fill the lanes of any backend.
const FILES: usize = 64;

/// Memory for the chunks of all cores; on machines with very many, each has fewer files in hand.
const MEMORY: usize = 64 << 20;

/// Takes files until there are none, and hashes them.
pub(super) fn work<T>(functions: &[Function], threads: usize, ordered: &Ordered<T>, handover: &Handover<InHand<T>>) {
    handover.enter();
    let _leave = Leave { ordered, handover };
    let most = FILES.min(MEMORY / CHUNK / threads).max(1);
    let mut lanes = Lanes::new(functions);
    let mut more = true;
    while !ordered.stopped() {
        let mut slow = None;
        while more && slow.is_none() && lanes.len() < most {
            match ordered.take(lanes.len() == 0) {
                Take::File(Taken { number, tag, source }) => match source.open() {
                    Ok(Input::File(file)) => {
                        lanes.push(InHand { number, tag, file, hashes: Hashes::new(functions) });
                        // Now, and not when all lanes are filled: meanwhile other workers take their share of files.
                        lanes.read(ordered);
                    }
                    Ok(Input::Slow(input)) => slow = Some((number, tag, input)),
                    Err(error) => ordered.done(number, tag, Err(error)),
                },
                Take::Later => break,
                Take::Ended => more = false,
            }
        }
        if let Some((number, tag, input)) = slow {
            while lanes.len() > 0 {
                lanes.advance(ordered);
                lanes.read(ordered);
            }
            // Two of them may be the same standard input or pipe, and the first in order has the first bytes.
            ordered.wait_for_turn(number);
            ordered.done(number, tag, read_alone(functions, input));
        } else if lanes.len() > 0 {
            lanes.advance(ordered);
            if !more && lanes.len() > 1 && handover.is_wanted() {
                handover.offer(lanes.take_half());
            }
            lanes.read(ordered);
        } else if !more {
            let share = handover.wait();
            if share.is_empty() {
                return;
            }
            share.into_iter().for_each(|in_hand| lanes.push(in_hand));
            lanes.read(ordered);
        }
    }
}

/// Tells the others when this worker ends; also by a panic in the caller's iterator or sink, after which the files that
/// it had in hand would be waited for in vain.
struct Leave<'a, 'b, T> {
    ordered: &'a Ordered<'b, T>,
    handover: &'a Handover<InHand<T>>,
}

impl<T> Drop for Leave<'_, '_, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.ordered.stop();
        }
        self.handover.leave();
    }
}

/// The digests of what has no end that could be known.
fn read_alone(functions: &[Function], input: impl Read) -> io::Result<Vec<Digest>> {
    let mut hashes = Hashes::new(functions);
    // In chunks as long as those of files: a write takes its time, however little is written.
    io::copy(&mut BufReader::with_capacity(CHUNK, input), &mut hashes)?;
    Ok(Hashes::finalize_many(functions, vec![hashes]).swap_remove(0))
}

/// A file in hand.
pub(super) struct InHand<T> {
    number: u64,
    tag: T,
    file: File,
    hashes: Hashes,
}

/// The files in hand, each with a chunk.
struct Lanes<'f, T> {
    functions: &'f [Function],
    /// Apart from the files, so that they can be advanced together.
    hashes: Vec<Hashes>,
    files: Vec<Open<T>>,
    /// At least one for each file; those left over wait for the next.
    chunks: Vec<Box<[u8]>>,
}

struct Open<T> {
    number: u64,
    tag: T,
    file: File,
    /// Bytes in its chunk.
    filled: usize,
    ended: bool,
}

impl<'f, T> Lanes<'f, T> {
    fn new(functions: &'f [Function]) -> Self {
        Lanes { functions, hashes: Vec::new(), files: Vec::new(), chunks: Vec::new() }
    }

    fn len(&self) -> usize {
        self.files.len()
    }

    fn push(&mut self, in_hand: InHand<T>) {
        let InHand { number, tag, file, hashes } = in_hand;
        if self.chunks.len() == self.len() {
            // Not all a power of two apart, where they would meet in the same sets of a cache.
            self.chunks.push(vec![0; CHUNK + 64].into_boxed_slice());
        }
        self.hashes.push(hashes);
        self.files.push(Open { number, tag, file, filled: 0, ended: false });
    }

    /// Takes out a file; the last one takes its place and its chunk changes places too.
    fn remove(&mut self, i: usize) -> InHand<T> {
        let last = self.len() - 1;
        self.chunks.swap(i, last);
        let Open { number, tag, file, .. } = self.files.swap_remove(i);
        InHand { number, tag, file, hashes: self.hashes.swap_remove(i) }
    }

    /// Takes out half of the files, whose chunks are empty.
    fn take_half(&mut self) -> Vec<InHand<T>> {
        (0..self.len() / 2).map(|_| self.remove(self.len() - 1)).collect()
    }

    /// Reads a chunk of each file that has none. Those that cannot be read are done with.
    fn read(&mut self, ordered: &Ordered<T>) {
        let mut i = 0;
        while i < self.len() {
            let open = &mut self.files[i];
            let result = if open.filled == 0 && !open.ended { open.read(&mut self.chunks[i][..CHUNK]) } else { Ok(()) };
            match result {
                Ok(()) => i += 1,
                Err(error) => {
                    let InHand { number, tag, .. } = self.remove(i);
                    ordered.done(number, tag, Err(error));
                }
            }
        }
    }

    /// Hashes the chunks, and is done with the files that have ended.
    fn advance(&mut self, ordered: &Ordered<T>) {
        let chunks = self.chunks.iter().zip(&self.files).map(|(chunk, open)| &chunk[..open.filled]);
        Hashes::update_many(self.hashes.iter_mut().zip(chunks));
        self.files.iter_mut().for_each(|open| open.filled = 0);

        let (mut ended, mut messages) = (Vec::new(), Vec::new());
        for i in (0..self.len()).rev() {
            if self.files[i].ended {
                let InHand { number, tag, hashes, .. } = self.remove(i);
                ended.push((number, tag));
                messages.push(hashes);
            }
        }
        for ((number, tag), digests) in ended.into_iter().zip(Hashes::finalize_many(self.functions, messages)) {
            ordered.done(number, tag, Ok(digests));
        }
    }
}

impl<T> Open<T> {
    /// Fills the chunk, or as much of it as the file has left.
    fn read(&mut self, chunk: &mut [u8]) -> io::Result<()> {
        while self.filled < chunk.len() {
            match self.file.read(&mut chunk[self.filled..]) {
                Ok(0) => {
                    self.ended = true;
                    break;
                }
                Ok(read) => self.filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
