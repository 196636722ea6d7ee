//! OpenSSL as the subject: a context for each message, and as many threads as the engine has.
//!
//! A message with chunks waits in a queue for a thread, which hashes one chunk and puts it back to the end of the
//! queue if there are more. All that is shared is behind one lock, which nobody holds while hashing.

use super::buffers::Chunk;
use super::subject::{Counters, Failure, Message, Subject};
use manyhash::engine::SlotState;
use manyhash::{Algorithm, Digest};
use openssl::error::ErrorStack;
use openssl::hash::{Hasher, MessageDigest};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;
use tokio::sync::oneshot;

/// The contexts, and the threads that hash with them.
pub(super) struct Contexts {
    shared: Arc<SharedContexts>,
    digest: MessageDigest,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct SharedContexts {
    table: Mutex<Table>,
    /// That a message was queued, or the table closed.
    changed: Condvar,
}

#[derive(Default)]
struct Table {
    lines: Vec<Line>,
    /// Indices of the lines that are ready.
    queue: VecDeque<usize>,
    counters: Counters,
    closed: bool,
}

/// One message.
struct Line {
    state: SlotState,
    /// With a thread while that hashes.
    context: Option<Context>,
    chunks: VecDeque<Chunk>,
    /// Who waits for the digest.
    end: Option<oneshot::Sender<Context>>,
}

/// A context; or what went wrong, after which nothing more is hashed.
type Context = Result<Hasher, ErrorStack>;

impl Contexts {
    pub(super) fn new(algorithm: Algorithm, threads: usize) -> Result<Self, Failure> {
        // OpenSSL has the same names for them.
        let digest = MessageDigest::from_name(algorithm.name()).ok_or(Failure::NotInOpenSsl(algorithm))?;
        let mut contexts = Contexts { shared: Arc::default(), digest, threads: Vec::new() };
        for _ in 0..threads {
            let shared = Arc::clone(&contexts.shared);
            let thread = thread::Builder::new().name("openssl".into()).spawn(move || shared.work());
            contexts.threads.push(thread.map_err(Failure::Threads)?);
        }
        Ok(contexts)
    }
}

impl Drop for Contexts {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.changed.notify_all();
        for thread in self.threads.drain(..) {
            thread.join().expect("it does not panic");
        }
    }
}

impl SharedContexts {
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hashes until the table is closed.
    fn work(&self) {
        let mut table = self.lock();
        while !table.closed {
            let Some(index) = table.queue.pop_front() else {
                table = self.changed.wait(table).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            table.enter(index, SlotState::Hashing);
            let line = &mut table.lines[index];
            let chunk = line.chunks.pop_front().expect("it is ready");
            let context = line.context.take().expect("no other thread has it");
            drop(table);
            let start = Instant::now();
            let context = context.and_then(|mut hasher| hasher.update(chunk.as_ref()).map(|()| hasher));
            let busy = start.elapsed();
            let bytes = chunk.as_ref().len() as u64;
            drop(chunk);
            table = self.lock();
            table.counters.busy += busy;
            table.counters.bytes += bytes;
            table.lines[index].context = Some(context);
            table.settle(index);
        }
    }
}

impl Table {
    fn enter(&mut self, index: usize, state: SlotState) {
        let old = std::mem::replace(&mut self.lines[index].state, state);
        self.counters.slots[old as usize] -= 1;
        self.counters.slots[state as usize] += 1;
    }

    /// Finds out what is next for a line that no thread has.
    fn settle(&mut self, index: usize) {
        let line = &mut self.lines[index];
        if !line.chunks.is_empty() {
            self.queue.push_back(index);
            self.enter(index, SlotState::Ready);
        } else if let Some(end) = line.end.take() {
            let context = line.context.take().expect("no thread has it");
            self.enter(index, SlotState::Done);
            // Who does not wait any more needs no digest.
            let _ = end.send(context);
        } else {
            self.enter(index, SlotState::Filling);
        }
    }
}

impl Subject for Contexts {
    type Message = Handle;

    const NAME: &'static str = "openssl";

    fn message(&self) -> Handle {
        let mut table = self.shared.lock();
        let index = table.lines.len();
        let context = Some(Hasher::new(self.digest));
        table.lines.push(Line { state: SlotState::Free, context, chunks: VecDeque::new(), end: None });
        table.counters.slots[SlotState::Free as usize] += 1;
        Handle { shared: Arc::clone(&self.shared), index }
    }

    fn threads(&self) -> usize {
        self.threads.len()
    }

    fn counters(&self) -> Counters {
        self.shared.lock().counters
    }
}

/// A producer's hold on its message.
pub(super) struct Handle {
    shared: Arc<SharedContexts>,
    index: usize,
}

impl Handle {
    /// Changes the line, and sees to it that a thread looks at what is new.
    fn change(&self, change: impl FnOnce(&mut Line)) {
        let mut table = self.shared.lock();
        let line = &mut table.lines[self.index];
        change(line);
        if matches!(line.state, SlotState::Free | SlotState::Filling) {
            table.settle(self.index);
            drop(table);
            self.shared.changed.notify_one();
        }
    }
}

impl Message for Handle {
    async fn write(&mut self, chunk: Chunk) -> Result<(), Failure> {
        self.change(|line| line.chunks.push_back(chunk));
        Ok(())
    }

    async fn finish(self) -> Result<Digest, Failure> {
        let (sender, receiver) = oneshot::channel();
        self.change(|line| line.end = Some(sender));
        let mut hasher = receiver.await.expect("a line with an end gets its context")?;
        self.shared.lock().enter(self.index, SlotState::Free);
        Ok(Digest::from_bytes(&hasher.finish()?).expect("no digest is longer"))
    }
}

#[cfg(test)]
mod tests {
    use super::Contexts;
    use crate::simulate::buffers::Buffers;
    use crate::simulate::subject::{Message, Subject};
    use manyhash::Algorithm;

    #[test]
    fn messages_are_hashed_in_order() {
        tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(in_order());
    }

    async fn in_order() {
        let buffers = Buffers::new(4, 3);
        for algorithm in Algorithm::ALL.iter().copied() {
            let contexts = Contexts::new(algorithm, 2).expect("OpenSSL has it");
            let mut messages = [contexts.message(), contexts.message()];
            for text in ["abc", "", "de", "f", "ghi"] {
                for message in &mut messages {
                    let (mut chunk, _) = buffers.take(text.len()).await;
                    chunk.as_mut().copy_from_slice(text.as_bytes());
                    message.write(chunk).await.expect("it is taken");
                }
            }
            for message in messages {
                let digest = message.finish().await.expect("a digest");
                assert_eq!(digest, manyhash::digest(algorithm, "abcdefghi"), "{algorithm}");
            }
            let counters = contexts.counters();
            assert_eq!((counters.bytes, counters.slots), (18, [2, 0, 0, 0, 0]));
        }
    }
}
