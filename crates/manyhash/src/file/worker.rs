//! One core's share of the files.

use super::input::{Input, Unopened};
use super::lanes::{InHand, Lanes};
use super::limit::{files_in_hand, is_too_many};
use super::open::{CHUNK, OpenFile};
use super::ordered::{Take, Taken};
use super::{Digested, Shared};
use crate::function::Hashes;
use std::collections::VecDeque;
use std::fs::Metadata;
use std::io::{self, BufReader, Write};

/// Files in hand at once, on each core: enough to fill the lanes of any backend.
const FILES: usize = 64;

/// Memory for the chunks of all cores; on machines with very many, each has fewer files in hand.
const MEMORY: usize = 64 << 20;

/// Takes files until there are none, and hashes them.
pub(super) fn work<T>(shared: &Shared<T>) {
    let Shared { files, ordered, handover, .. } = shared;
    handover.enter();
    let _leave = Leave { shared };
    let most = (MEMORY / CHUNK).min(files_in_hand()) / shared.threads;
    let most = most.clamp(1, FILES);
    let mut taken = VecDeque::new();
    let mut lanes = Lanes::new(shared);
    let mut more = true;
    while !ordered.stopped() {
        let mut alone = None;
        let mut bound = None;
        while alone.is_none() && lanes.len() < most {
            let Some(Taken { number, tag, mut source }) = taken.pop_front() else {
                match if more { ordered.take(lanes.len() == 0, &mut taken) } else { Take::Later } {
                    Take::Files => continue,
                    Take::Later => break,
                    Take::Bounded { until } => {
                        bound = Some(until);
                        break;
                    }
                    Take::Ended => more = false,
                }
                continue;
            };
            match shared.open(lanes.len() > 0, || source.open()) {
                Ok(Input::File(file, metadata)) => {
                    let file = open(shared, file, metadata);
                    let in_hand = InHand { number, tag, file, hashes: Hashes::new(files.functions) };
                    // Now, and not when all lanes are filled: meanwhile other workers take their share of files.
                    alone = lanes.begin(in_hand).map(|file| Alone::File(Box::new(file)));
                }
                Ok(Input::Slow(input)) => {
                    shared.closed(1);
                    alone = Some(Alone::Slow(number, tag, input));
                }
                Ok(Input::Known(digests)) => {
                    shared.closed(1);
                    shared.done([(number, tag, Ok(Digested { digests, bytes: 0, settled: None }))]);
                }
                Err(error) if is_too_many(&error) && lanes.len() > 0 => {
                    taken.push_front(Taken { number, tag, source });
                    break;
                }
                Err(error) => shared.done([(number, tag, Err(error))]),
            }
        }
        if let Some(alone) = alone {
            while lanes.len() > 0 && !ordered.stopped() {
                lanes.turn();
            }
            read_alone(shared, alone);
        } else if lanes.len() > 0 {
            lanes.turn();
            // Somebody waits only where there are no files to take.
            if lanes.len() > 1 && handover.is_wanted() {
                handover.offer(lanes.take_half());
            }
        } else {
            let is_passed = |until| {
                let (due, stopped) = ordered.due();
                stopped || due > until
            };
            let share = handover.wait(bound.map(|until| move || is_passed(until)));
            if share.is_empty() && bound.is_none() {
                return;
            }
            share.into_iter().for_each(|in_hand| lanes.push(in_hand));
        }
    }
}

#[cfg(all(feature = "map", target_os = "linux"))]
fn open<T>(shared: &Shared<T>, file: std::fs::File, metadata: Metadata) -> OpenFile {
    OpenFile::new(file, metadata).with_guard(shared.files.guard)
}

#[cfg(not(all(feature = "map", target_os = "linux")))]
fn open<T>(_: &Shared<T>, file: std::fs::File, metadata: Metadata) -> OpenFile {
    OpenFile::new(file, metadata)
}

/// Tells the others when this worker ends; also by a panic in the caller's iterator or sink, after which the files that
/// it had in hand would be waited for in vain.
struct Leave<'s, 'a, 'f, T> {
    shared: &'s Shared<'a, 'f, T>,
}

impl<T> Drop for Leave<'_, '_, '_, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.shared.ordered.stop();
        }
        self.shared.handover.leave();
    }
}

/// What is read from its beginning to its end at a time.
enum Alone<T> {
    /// What has no end that could be known.
    Slow(u64, T, Unopened),
    /// A file on a disk whose head would have to move between files.
    File(Box<InHand<T>>),
}

fn read_alone<T>(shared: &Shared<T>, alone: Alone<T>) {
    let functions = shared.files.functions;
    let (number, tag, result) = match alone {
        Alone::Slow(number, tag, input) => {
            // Two of them may be the same standard input or pipe, and the first in order has the first bytes.
            if !shared.ordered.wait_for_turn(number) {
                return;
            }
            let mut message = Message { shared, hashes: Hashes::new(functions) };
            // In chunks as long as those of files: a write takes its time, however little is written.
            let read = shared.open(false, || input.open()).and_then(|file| {
                let read = io::copy(&mut BufReader::with_capacity(CHUNK, file), &mut message);
                shared.closed(1);
                read
            });
            let digested = read.map(|bytes| {
                let digests = Hashes::finalize_many(functions, vec![message.hashes]).swap_remove(0);
                Digested { digests, bytes, settled: None }
            });
            (number, tag, digested)
        }
        Alone::File(in_hand) => {
            let InHand { number, tag, mut file, hashes } = *in_hand;
            let _head = shared.disks.head();
            let mut message = Message { shared, hashes };
            let read = io::copy(&mut BufReader::with_capacity(CHUNK, &mut file), &mut message);
            let digested = read.map(|_| {
                let digests = Hashes::finalize_many(functions, vec![message.hashes]).swap_remove(0);
                file.close(digests)
            });
            shared.closed(1);
            (number, tag, digested)
        }
    };
    shared.done([(number, tag, result)]);
}

/// A message, as it comes.
struct Message<'s, 'a, 'f, T> {
    shared: &'s Shared<'a, 'f, T>,
    hashes: Hashes,
}

impl<T> Write for Message<'_, '_, '_, T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.shared.ordered.stopped() {
            return Err(io::Error::other("No more results are wanted"));
        }
        self.shared.count(bytes.len() as u64);
        self.hashes.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
