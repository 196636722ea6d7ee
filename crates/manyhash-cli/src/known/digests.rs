//! Digests as they are gathered from lists: side by side, and sorted in place.

use super::layout::{LINE, Sorted};
use crate::threads::on_all_cores;
use rayon::slice::ParallelSliceMut;

/// Digests of one length.
pub(super) trait Digests {
    /// Takes one more.
    fn push(&mut self, digest: &[u8]);

    /// All of them, each once.
    fn sorted(&mut self) -> Sorted<'_>;
}

/// A place for digests of so many bytes, in cells of the next length that there is a type for.
pub(super) fn digests(width: usize) -> Box<dyn Digests> {
    match width {
        0..=4 => Box::new(Cells::<4>::default()),
        5..=8 => Box::new(Cells::<8>::default()),
        9..=16 => Box::new(Cells::<16>::default()),
        17..=20 => Box::new(Cells::<20>::default()),
        21..=28 => Box::new(Cells::<28>::default()),
        29..=32 => Box::new(Cells::<32>::default()),
        33..=48 => Box::new(Cells::<48>::default()),
        _ => Box::new(Cells::<LINE>::default()),
    }
}

/// Digests with zeros after them.
#[derive(Default)]
struct Cells<const CELL: usize>(Vec<[u8; CELL]>);

impl<const CELL: usize> Cells<CELL> {
    fn sort(&mut self) {
        on_all_cores(|| self.0.par_sort_unstable());
        self.0.dedup();
    }
}

impl<const CELL: usize> Digests for Cells<CELL> {
    fn push(&mut self, digest: &[u8]) {
        // Lists have the same digests again and again: there is room for them to be dropped before there is more.
        if self.0.len() == self.0.capacity() {
            self.sort();
            self.0.reserve(self.0.len().max(1 << 16));
        }
        let mut cell = [0; CELL];
        cell[..digest.len()].copy_from_slice(digest);
        self.0.push(cell);
    }

    fn sorted(&mut self) -> Sorted<'_> {
        self.sort();
        Sorted { cells: self.0.as_flattened(), cell: CELL }
    }
}

#[cfg(test)]
mod tests {
    use super::digests;

    #[test]
    fn each_once_and_in_order() {
        for width in 1..=64 {
            let mut digests = digests(width);
            // More than there is room for at first, in another order.
            for i in 0..200_000u32 {
                let mut digest = [0; 64];
                digest[..4].copy_from_slice(&(i.wrapping_mul(7919) % 1000).to_be_bytes()[..]);
                digest.rotate_left(4_usize.saturating_sub(width));
                digests.push(&digest[..width]);
            }
            let sorted = digests.sorted();
            assert_eq!(sorted.len(), if width == 1 { 256 } else { 1000 }, "{width}");
            assert!(sorted.cells.chunks_exact(sorted.cell).is_sorted());
        }
    }
}
