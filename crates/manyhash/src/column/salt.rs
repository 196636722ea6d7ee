//! Columns whose rows are hashed between a prefix and a suffix.

use super::{Column, Encoding};
use crate::OutputLengthError;
use crate::batch::Batch;
use std::sync::{Mutex, PoisonError};

/// What is hashed before and after each row, for pseudonyms that only who knows it can make.
///
/// Where it has to withstand an attack, [`Hmac`](crate::Hmac) is what to use: with a prefix alone, who has a digest can
/// compute that of a longer row without knowing the prefix.
#[derive(Clone, Copy, Default)]
pub struct Salt<'a> {
    /// Before each row.
    pub prefix: &'a [u8],
    /// After each row.
    pub suffix: &'a [u8],
}

/// It is a secret.
impl std::fmt::Debug for Salt<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Salt").finish_non_exhaustive()
    }
}

/// Rows, and about their bytes, that are put together at once: they stay in cache.
const ROWS: usize = 1024;
const BYTES: usize = 256 << 10;

/// Salted rows, put together.
#[derive(Default)]
struct Salted {
    values: Vec<u8>,
    offsets: Vec<i64>,
}

impl Salted {
    /// Puts together the rows from `first` on, at least one and at the most up to `end`, and says up to which.
    fn fill(&mut self, column: &Column, salt: Salt, first: usize, end: usize) -> usize {
        self.values.clear();
        self.offsets.clear();
        self.offsets.push(0);
        let mut row = first;
        while row < end && self.values.len() < BYTES {
            if let Some(bytes) = column.row(row) {
                self.values.extend_from_slice(salt.prefix);
                self.values.extend_from_slice(bytes);
                self.values.extend_from_slice(salt.suffix);
            }
            self.offsets.push(self.values.len() as i64);
            row += 1;
        }
        row
    }
}

impl Batch {
    /// As [`digest_column`](Self::digest_column), each row between a prefix and a suffix.
    ///
    /// ```
    /// use manyhash::{Algorithm, Batch, Column, Encoding, Salt};
    ///
    /// let column = Column::fixed(b"bb", 1)?;
    /// let salt = Salt { prefix: b"a", suffix: b"c" };
    /// let digests = Batch::new(Algorithm::Md5).digest_column_salted(&column, salt, Encoding::Hex);
    /// assert_eq!(digests, b"900150983cd24fb0d6963f7d28e17f72".repeat(2)); // "abc", twice
    /// # Ok::<(), manyhash::ColumnError>(())
    /// ```
    pub fn digest_column_salted(&self, column: &Column, salt: Salt, encoding: Encoding) -> Vec<u8> {
        let mut digests = vec![0; column.len() * encoding.width(self.algorithm())];
        self.fill_salted(column, salt, encoding, &mut digests);
        digests
    }

    /// As [`digest_column_salted`](Self::digest_column_salted), into the caller's bytes.
    ///
    /// # Errors
    /// If there is not room for exactly one digest a row; nothing is written then.
    pub fn digest_column_salted_into(
        &self,
        column: &Column,
        salt: Salt,
        encoding: Encoding,
        digests: &mut [u8],
    ) -> Result<(), OutputLengthError> {
        encoding.check(self.algorithm(), column, digests)?;
        self.fill_salted(column, salt, encoding, digests);
        Ok(())
    }

    fn fill_salted(&self, column: &Column, salt: Salt, encoding: Encoding, digests: &mut [u8]) {
        let width = encoding.width(self.algorithm());
        let bytes = column.len().saturating_mul(self.algorithm().block_bytes());
        let tasks = Mutex::new(digests.chunks_mut(ROWS * width).enumerate());
        self.cores(column.len(), bytes).run(|| {
            let mut salted = Salted::default();
            loop {
                let task = tasks.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some((i, mut digests)) = task else { return };
                let mut first = i * ROWS;
                let end = first + digests.len() / width;
                while first < end {
                    let next = salted.fill(column, salt, first, end);
                    let Some(part) = digests.split_off_mut(..(next - first) * width) else { return };
                    if let Ok(rows) = Column::binary(&salted.values, &salted.offsets) {
                        let rows = Column { validity: column.slice(first..next).validity, ..rows };
                        self.threads(1).fill_column(&rows, encoding, None, part);
                    }
                    first = next;
                }
            }
        });
    }
}
