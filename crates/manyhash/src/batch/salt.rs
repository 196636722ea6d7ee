//! What is hashed before and after each message of a batch.

use super::Batch;
use super::pool::Threads;
use super::share::total;
use crate::column::{Column, Encoding};
use crate::hasher::Variant;
use manyhash_core::State;
use manyhash_core::family::MAX_DIGEST_BYTES;
use std::sync::{Mutex, PoisonError};
use zeroize::Zeroizing;

/// A prefix and a suffix. They may be a secret, and are wiped when this is dropped.
#[derive(Clone)]
pub(super) struct Salt {
    pub(super) prefix: Zeroizing<Vec<u8>>,
    pub(super) suffix: Zeroizing<Vec<u8>>,
}

/// Messages, and about their bytes, that are put together at once: they stay in cache.
const MESSAGES: usize = 1024;
const BYTES: usize = 256 << 10;

/// Salted messages, put together.
#[derive(Default)]
struct Salted {
    values: Zeroizing<Vec<u8>>,
    offsets: Vec<i64>,
}

impl Salted {
    /// Puts the first messages together, and says how many: none if the first is too long to be copied. A null is put in
    /// as no bytes.
    fn fill<'m>(&mut self, salt: &Salt, messages: impl Iterator<Item = Option<&'m [u8]>>) -> usize {
        self.values.clear();
        self.offsets.clear();
        self.offsets.push(0);
        for message in messages {
            if self.values.len() >= BYTES || message.is_some_and(|message| message.len() > BYTES) {
                break;
            }
            if let Some(message) = message {
                self.values.extend_from_slice(&salt.prefix);
                self.values.extend_from_slice(message);
                self.values.extend_from_slice(&salt.suffix);
            }
            self.offsets.push(self.values.len() as i64);
        }
        self.offsets.len() - 1
    }

    fn messages(&self) -> Vec<&[u8]> {
        self.offsets.windows(2).map(|row| &self.values[row[0] as usize..row[1] as usize]).collect()
    }
}

impl Batch {
    /// Writes the digest of each message between the salt's parts, and what follows it in the state.
    pub(super) fn fill_salted<F: Variant>(
        &self,
        salt: &Salt,
        start: State<F>,
        messages: &[&[u8]],
        states: &mut [[u8; MAX_DIGEST_BYTES]],
    ) {
        let tasks = Mutex::new(messages.chunks(MESSAGES).zip(states.chunks_mut(MESSAGES)));
        self.threads.cores(messages.len(), total(messages)).run(|| {
            let mut salted = Salted::default();
            loop {
                let task = tasks.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some((mut messages, mut states)) = task else { return };
                while let Some(first) = messages.first() {
                    let count = salted.fill(salt, messages.iter().copied().map(Some));
                    let Some(part) = states.split_off_mut(..count.max(1)) else { return };
                    if count == 0 {
                        part[0] = *self.digest_alone(first);
                    } else {
                        self.fill_keyed::<F>(Threads::ONE, start, &salted.messages(), part);
                    }
                    messages = &messages[part.len()..];
                }
            }
        });
    }

    /// The same for the rows of a column.
    pub(super) fn fill_column_salted(&self, salt: &Salt, column: &Column, encoding: Encoding, digests: &mut [u8]) {
        let width = encoding.width(self.algorithm);
        let bytes = column.len().saturating_mul(self.algorithm.block_bytes());
        let tasks = Mutex::new(digests.chunks_mut(MESSAGES * width).enumerate());
        self.threads.cores(column.len(), bytes).run(|| {
            let mut salted = Salted::default();
            loop {
                let task = tasks.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some((i, mut digests)) = task else { return };
                let mut first = i * MESSAGES;
                while !digests.is_empty() {
                    let rows = first..first + digests.len() / width;
                    let count = salted.fill(salt, rows.map(|row| column.row(row)));
                    let Some(part) = digests.split_off_mut(..count.max(1) * width) else { return };
                    if count == 0 {
                        let row = column.row(first).unwrap_or_default();
                        encoding.write(&self.digest_alone(row)[..self.algorithm.digest_bytes()], part);
                    } else if let Ok(rows) = Column::binary(&salted.values, &salted.offsets) {
                        let rows = rows.null_as(column, first);
                        self.fill_column_keyed(Threads::ONE, &rows, encoding, part);
                    }
                    first += count.max(1);
                }
            }
        });
    }
}
