//! The way of a column's rows to their digests.

use super::Encoding;
use super::layout::{Layout, Validity};
use crate::batch::Batch;
use crate::lanes::Planned;
use crate::running::Prefix;
use crate::short::{Done, GROUP, Shorts, TooLong};
use crate::stream::{Stream, Variant};
use manyhash_core::algorithm::MAX_DIGEST_BYTES;
use manyhash_core::{Md5, Sha1, Sha256, Sha512, Start, State, prefetch_all};
use std::sync::{Mutex, PoisonError};

/// Rows in a task at the least: groups of messages that are not full at its end are few beside it.
const TASK: usize = 8192;

/// Tasks for each thread, so that all end at about the same time.
const TASKS: usize = 16;

/// The digests of a column of which the layout is known.
#[derive(Clone, Copy)]
pub(super) struct Work<'a> {
    pub(super) batch: Batch,
    pub(super) validity: Option<Validity<'a>>,
    pub(super) encoding: Encoding,
    /// What stands before every row, if anything: whole blocks.
    pub(super) before: Option<&'a Stream>,
}

impl Work<'_> {
    pub(super) fn by_algorithm<L: Layout>(self, layout: &L, digests: &mut [u8]) {
        // The length of a digest is a constant where it is copied; each family has but a few.
        match (self.batch.algorithm().start(), self.batch.algorithm().digest_bytes()) {
            (Start::Md5(start), _) => self.run::<Md5, L, 16>(start, layout, digests),
            (Start::Sha1(start), _) => self.run::<Sha1, L, 20>(start, layout, digests),
            (Start::Sha256(start), 28) => self.run::<Sha256, L, 28>(start, layout, digests),
            (Start::Sha256(start), _) => self.run::<Sha256, L, 32>(start, layout, digests),
            (Start::Sha512(start), 32) => self.run::<Sha512, L, 32>(start, layout, digests),
            (Start::Sha512(start), 48) => self.run::<Sha512, L, 48>(start, layout, digests),
            (Start::Sha512(start), _) => self.run::<Sha512, L, 64>(start, layout, digests),
        }
    }

    fn run<F: Variant, L: Layout, const N: usize>(self, start: State<F>, layout: &L, digests: &mut [u8]) {
        let prefix = self.before.and_then(F::after).unwrap_or(Prefix::none(start));
        let (rows, width) = (layout.rows(), self.encoding.width(self.batch.algorithm()));
        let cores = self.batch.cores(rows, rows.saturating_mul(F::BLOCK_BYTES));
        let task = if cores.count() == 1 { rows } else { (rows / cores.count() / TASKS).max(TASK) }.max(1);
        let tasks = digests.chunks_mut(task * width).enumerate().map(|(i, digests)| (i * task, digests));
        let tasks = Mutex::new(tasks);
        let long = Mutex::new(Vec::new());
        cores.run(|| {
            let mut shorts = Shorts::new(prefix);
            loop {
                let task = tasks.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some((first, digests)) = task else { return };
                let longs = self.hash_shorts::<F, L, N>(layout, first, digests, &mut shorts);
                if !longs.is_empty() {
                    long.lock().unwrap_or_else(PoisonError::into_inner).extend(longs);
                }
            }
        });
        let long = long.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.hash_longs::<F, L, N>(prefix, layout, &long, digests);
    }

    /// Writes the digests of short messages, from row `first` on, and returns the rows of the others.
    fn hash_shorts<'m, F: Planned, L: Layout, const N: usize>(
        self,
        layout: &'m L,
        first: usize,
        digests: &mut [u8],
        shorts: &mut Shorts<'m, F, usize>,
    ) -> Vec<usize> {
        let mut longs = Vec::new();
        let mut places = Places::<N> { digests, encoding: self.encoding };
        let mut group: [&[u8]; GROUP] = [&[]; GROUP];
        for row in (0..places.len()).step_by(GROUP) {
            let rows = row..places.len().min(row + GROUP);
            if rows.len() == GROUP && self.validity.is_none() {
                for (message, row) in group.iter_mut().zip(rows.clone()) {
                    *message = layout.row(first + row);
                }
                // While these are hashed, the next ones come.
                if rows.end + GROUP <= places.len() {
                    prefetch_all(layout.span(first + rows.end..first + rows.end + GROUP));
                    prefetch_all(places.span(rows.end..rows.end + GROUP));
                }
                if let Some(states) = shorts.group(&group) {
                    places.digests(row, states);
                    continue;
                }
            }
            for row in rows {
                if self.validity.is_some_and(|validity| !validity.is_valid(first + row)) {
                    places.at(row).fill(0);
                } else if shorts.push(layout.row(first + row), row, &mut places) == Err(TooLong) {
                    longs.push(first + row);
                }
            }
        }
        shorts.flush(&mut places);
        longs
    }

    /// Writes the digests of these rows.
    fn hash_longs<F: Planned, L: Layout, const N: usize>(
        self,
        prefix: Prefix<F>,
        layout: &L,
        rows: &[usize],
        digests: &mut [u8],
    ) {
        let messages: Vec<&[u8]> = rows.iter().map(|row| layout.row(*row)).collect();
        let mut states = vec![[0; MAX_DIGEST_BYTES]; rows.len()];
        self.batch.fill::<F, _, _>(prefix, &messages, &mut states, |state| *state);
        let mut places = Places::<N> { digests, encoding: self.encoding };
        rows.iter().zip(&states).for_each(|(row, state)| places.digest(*row, state));
    }
}

/// The places of digests of `N` bytes, side by side.
struct Places<'d, const N: usize> {
    digests: &'d mut [u8],
    encoding: Encoding,
}

impl<const N: usize> Places<'_, N> {
    fn width(&self) -> usize {
        match self.encoding {
            Encoding::Binary => N,
            Encoding::Hex => 2 * N,
        }
    }

    fn len(&self) -> usize {
        self.digests.len() / self.width()
    }

    /// Writes the digests of neighbours, from row `first` on.
    #[inline]
    fn digests(&mut self, first: usize, states: &[[u8; MAX_DIGEST_BYTES]]) {
        if self.encoding == Encoding::Binary {
            let (places, _) = self.digests[first * N..].as_chunks_mut::<N>();
            for (place, state) in places.iter_mut().zip(states) {
                place.copy_from_slice(&state[..N]);
            }
        } else {
            states.iter().enumerate().for_each(|(i, state)| self.digest(first + i, state));
        }
    }

    fn span(&self, rows: std::ops::Range<usize>) -> &[u8] {
        let width = self.width();
        &self.digests[rows.start * width..rows.end * width]
    }

    #[inline]
    fn at(&mut self, row: usize) -> &mut [u8] {
        let width = self.width();
        &mut self.digests[row * width..][..width]
    }
}

impl<const N: usize> Done<usize> for Places<'_, N> {
    #[inline]
    fn digest(&mut self, row: usize, state: &[u8; MAX_DIGEST_BYTES]) {
        let encoding = self.encoding;
        let Some(digest) = state.first_chunk::<N>() else { return };
        match encoding {
            Encoding::Binary => self.at(row).copy_from_slice(digest),
            Encoding::Hex => {
                // There is room for two digits a byte, which is all that could be wrong.
                let _ = const_hex::encode_to_slice(digest, self.at(row));
            }
        }
    }
}
