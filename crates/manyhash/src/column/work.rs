//! The way of a column's rows to their digests.

use super::Encoding;
use super::layout::{Layout, Validity};
use crate::Algorithm;
use crate::batch::{self, pool::Threads};
use crate::family::with_length;
use crate::hasher::{Hasher, Variant};
use crate::lanes::Planned;
use crate::running::Prefix;
use crate::short::{Done, GROUP, Shorts, TooLong};
use manyhash_core::family::{MAX_BLOCK_BYTES, MAX_DIGEST_BYTES};
use manyhash_core::short::row_bytes;
use manyhash_core::{State, prefetch_all};
use std::sync::{Mutex, PoisonError};

/// The nulls of a group are the bits of one number.
const _: () = assert!(GROUP == u128::BITS as usize);

/// Minimum number of rows in a task: groups of messages that are not full at its end are few beside it.
const TASK: usize = 8192;

/// Rows whose successors are asked for at once: the CPU has only so many lines under way, and waits beyond them.
const SHARE: usize = 16;

/// Tasks for each thread, so that all end at about the same time.
const TASKS: usize = 16;

/// The digests of a column of which the layout is known.
#[derive(Clone, Copy)]
pub(super) struct ColumnWork<'a> {
    pub(super) algorithm: Algorithm,
    pub(super) threads: Threads,
    pub(super) validity: Option<Validity<'a>>,
    pub(super) encoding: Encoding,
    /// What stands before every row, if anything: whole blocks.
    pub(super) before: Option<&'a Hasher>,
}

impl ColumnWork<'_> {
    pub(super) fn by_algorithm<L: Layout>(self, layout: &L, digests: &mut [u8]) {
        with_length!(self.algorithm, F, N, start => self.run::<F, L, N>(*start, layout, digests));
    }

    fn run<F: Variant, L: Layout, const N: usize>(self, start: State<F>, layout: &L, digests: &mut [u8]) {
        let prefix = self.before.and_then(F::after).unwrap_or(Prefix::none(start));
        let (rows, width) = (layout.rows(), self.encoding.width(self.algorithm));
        let cores = self.threads.cores(rows, rows.saturating_mul(F::BLOCK_BYTES));
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
            let nulls = self.validity.map_or(0, |validity| validity.nulls(first + row));
            let is_null = |i: usize| nulls != 0 && nulls >> i & 1 == 1;
            for from in (0..rows.len()).step_by(SHARE) {
                let share = from..rows.len().min(from + SHARE);
                layout.fill(first + row + from, &mut group[share.clone()]);
                // The next rows come, and their places, while these are hashed.
                let next = |i: usize| (rows.end + i).min(places.len());
                let next = next(share.start)..next(share.end);
                let span = layout.span(first + next.start..first + next.end);
                // What is long is not hashed here.
                prefetch_all(&span[..span.len().min(SHARE * MAX_BLOCK_BYTES)]);
                prefetch_all(places.span(next));
            }
            if rows.len() == GROUP && nulls != u128::MAX {
                // A null row hashes what another one has, so that its length does not matter.
                let other = group[nulls.trailing_ones() as usize];
                Nulls(nulls).for_each(|i| group[i] = other);
                if places.group(row, |width, digests| shorts.group(&group, width, digests)) {
                    Nulls(nulls).for_each(|i| places.at(row + i).fill(0));
                    continue;
                }
            }
            for (i, row) in rows.enumerate() {
                if is_null(i) {
                    places.at(row).fill(0);
                } else if shorts.push(group[i], row, &mut places) == Err(TooLong) {
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
        batch::fill(self.threads, prefix, &messages, &mut states, batch::copy);
        let mut places = Places::<N> { digests, encoding: self.encoding };
        rows.iter().zip(&states).for_each(|(row, state)| places.digest(*row, state));
    }
}

/// The numbers of the bits that are 1.
struct Nulls(u128);

impl Iterator for Nulls {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let next = self.0.trailing_zeros();
        self.0 &= self.0.wrapping_sub(1);
        (next < u128::BITS).then_some(next as usize)
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

    /// Lets `hash` write the digests of a group, from row `first` on: straight to their places where a kernel can, or to
    /// rows that are copied. It is told the width of a row; whether it has written them is what it returns.
    #[inline]
    fn group(&mut self, first: usize, hash: impl FnOnce(usize, &mut [u8]) -> bool) -> bool {
        if self.encoding == Encoding::Binary && N == row_bytes(N) {
            return hash(N, &mut self.digests[first * N..][..GROUP * N]);
        }
        let mut rows = [[0; MAX_DIGEST_BYTES]; GROUP];
        let hashed = hash(MAX_DIGEST_BYTES, rows.as_flattened_mut());
        if hashed {
            rows.iter().enumerate().for_each(|(i, row)| self.digest(first + i, row));
        }
        hashed
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
        encoding.write(&state[..N], self.at(row));
    }
}
