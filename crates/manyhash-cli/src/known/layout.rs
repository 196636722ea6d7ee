//! Where the digests of a set are: in lines of 64 bytes, which are what a processor's caches hold.
//!
//! Digests are uniform, so the leading bits of one say about where it is among the sorted others, and without an index.
//! They are in ascending order; each has a home among the lines, by its leading bits, and is in the first line from there
//! that has room after the digests before it. A slot that is left over holds the digest after it once more (behind the
//! last one, the last). So
//!
//! - slots hold members of the set and nothing else, and read one after another they ascend;
//! - a digest is in its home line or after it.
//!
//! Therefore it is in the first line, from its home on, whose last slot is not less than it, or nowhere. That line is
//! mostly its home, for about one slot a line is left over. Where it is not, it is looked for
//! in steps that double and then by halves, so that digests that are not uniform (somebody may have made them so) cost a
//! logarithm of their number at most.

use std::borrow::Borrow;

/// Bytes in a line.
pub(super) const LINE: usize = 64;

/// Digests side by side from the first byte on, and zeros after them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(align(64))]
pub(super) struct Line(pub(super) [u8; LINE]);

/// How the digests of one set are laid out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Layout {
    /// Bytes in a digest: 1 to 64.
    pub(super) width: usize,
    /// Lines that are the home of digests.
    pub(super) homes: u64,
}

impl Layout {
    /// Of so many digests of so many bytes.
    pub(super) fn new(width: usize, count: u64) -> Self {
        let slots = (LINE / width) as u128;
        // With `slots / (slots + 1.5)` of the slots taken, the home decides 7 or 8 of 10 searches, and it or the next line
        // all but a few of a hundred.
        let homes = (u128::from(count) * (2 * slots + 3)).div_ceil(2 * slots * slots);
        Layout { width, homes: u64::try_from(homes).unwrap_or(u64::MAX) }
    }

    /// The line that a digest is in or before: one of the homes, and no less than that of a lesser digest.
    pub(super) fn home(self, digest: &[u8]) -> u64 {
        let mut leading = [0; 8];
        let bytes = digest.len().min(8);
        leading[..bytes].copy_from_slice(&digest[..bytes]);
        ((u128::from(u64::from_be_bytes(leading)) * u128::from(self.homes)) >> 64) as u64
    }

    /// The lines of digests side by side, which ascend and are all different.
    pub(super) fn lines(self, digests: Sorted<'_>) -> Lines<'_> {
        Lines { layout: self, digests, next: 0, number: 0 }
    }

    /// Whether there is this digest in so many lines, each of which is asked for by its number.
    pub(super) fn search<L: Borrow<Line>, E>(
        self,
        digest: &[u8],
        lines: u64,
        mut line: impl FnMut(u64) -> Result<L, E>,
    ) -> Result<bool, E> {
        let home = self.home(digest);
        if home >= lines {
            return Ok(false);
        }
        // All lines before `first` end before the digest, and the one at `end`, if there is one, does not.
        let (mut first, mut end, mut step) = (home, home, 1);
        while end < lines && !self.reaches(line(end)?.borrow(), digest) {
            first = end + 1;
            end = first.saturating_add(step - 1);
            step = step.saturating_mul(2);
        }
        end = end.min(lines);
        while first < end {
            let middle = first + (end - first) / 2;
            if self.reaches(line(middle)?.borrow(), digest) {
                end = middle;
            } else {
                first = middle + 1;
            }
        }
        Ok(end < lines && self.slots(line(end)?.borrow()).any(|slot| slot == digest))
    }

    fn slots(self, line: &Line) -> impl DoubleEndedIterator<Item = &[u8]> {
        line.0.chunks_exact(self.width)
    }

    /// Whether the digest is not after this line.
    fn reaches(self, line: &Line, digest: &[u8]) -> bool {
        self.slots(line).next_back().is_some_and(|last| last >= digest)
    }
}

/// Digests side by side, each in a cell of its own, which ascend and are all different.
#[derive(Clone, Copy)]
pub(super) struct Sorted<'a> {
    pub(super) cells: &'a [u8],
    /// Bytes from one digest to the next.
    pub(super) cell: usize,
}

impl<'a> Sorted<'a> {
    pub(super) fn len(self) -> usize {
        self.cells.len() / self.cell
    }

    fn get(self, at: usize, width: usize) -> &'a [u8] {
        &self.cells[at * self.cell..][..width]
    }
}

/// The lines of a set, one after another.
#[derive(Clone)]
pub(super) struct Lines<'a> {
    layout: Layout,
    digests: Sorted<'a>,
    /// Which digest is the next.
    next: usize,
    /// Of the next line.
    number: u64,
}

impl Iterator for Lines<'_> {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        let (layout, last) = (self.layout, self.digests.len().checked_sub(1)?);
        if self.next > last {
            return None;
        }
        let mut line = [0; LINE];
        for slot in line.chunks_exact_mut(layout.width) {
            let digest = self.digests.get(self.next.min(last), layout.width);
            slot.copy_from_slice(digest);
            self.next += usize::from(self.next <= last && layout.home(digest) <= self.number);
        }
        self.number += 1;
        Some(Line(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::noise;
    use std::collections::BTreeSet;
    use std::convert::Infallible;

    /// The lines of digests, and what is in them by a search that also counts the lines it asks for.
    struct Searched {
        layout: Layout,
        lines: Vec<Line>,
    }

    impl Searched {
        fn of(digests: &BTreeSet<Vec<u8>>, width: usize) -> Self {
            let layout = Layout::new(width, digests.len() as u64);
            let cells: Vec<u8> = digests.iter().flatten().copied().collect();
            Searched { layout, lines: layout.lines(Sorted { cells: &cells, cell: width }).collect() }
        }

        fn find(&self, digest: &[u8]) -> (bool, usize) {
            let mut asked = BTreeSet::new();
            let line = |at: u64| {
                asked.insert(at);
                Ok::<_, Infallible>(&self.lines[at as usize])
            };
            let Ok(found) = self.layout.search(digest, self.lines.len() as u64, line);
            (found, asked.len())
        }

        /// Looks up all digests, and others: those with a bit changed, and the least and the greatest.
        #[track_caller]
        fn check(&self, digests: &BTreeSet<Vec<u8>>) {
            let width = self.layout.width;
            let mut others = BTreeSet::from([vec![0; width], vec![0xff; width]]);
            for digest in digests {
                assert!(self.find(digest).0, "{width}: {digest:02x?}");
                for byte in [0, width / 2, width - 1] {
                    let mut other = digest.clone();
                    other[byte] ^= 1;
                    others.insert(other);
                }
            }
            for other in others {
                assert_eq!(self.find(&other).0, digests.contains(&other), "{width}: {other:02x?}");
            }
        }
    }

    fn digests(count: usize, width: usize) -> BTreeSet<Vec<u8>> {
        noise(count * width).chunks_exact(width).map(<[u8]>::to_vec).collect()
    }

    #[test]
    fn all_widths_and_small_numbers() {
        for width in 1..=LINE {
            for count in [0, 1, 2, 3, 15, 16, 17, 62, 63, 64, 65, 1000] {
                let digests = digests(count, width);
                Searched::of(&digests, width).check(&digests);
            }
        }
    }

    /// Digests as somebody may choose them: all of one home, be it the first, the last or one between.
    #[test]
    fn digests_that_are_not_uniform() {
        for width in [16, 20, 32, 64] {
            for leading in [0, 0x7f, 0xff] {
                let with_prefix = |mut digest: Vec<u8>| {
                    digest[..9].fill(leading);
                    digest
                };
                let mut digests: BTreeSet<_> = digests(5000, width).into_iter().map(with_prefix).collect();
                let clustered = Searched::of(&digests, width);
                clustered.check(&digests);
                let most = digests.iter().map(|digest| clustered.find(digest).1).max();
                assert!(most <= Some(2 * 13 + 1), "{most:?}");
                digests.extend(self::digests(500, width));
                Searched::of(&digests, width).check(&digests);
            }
        }
    }

    /// How many searches of a hundred ask for so many lines at the most, and how many bytes a digest takes.
    #[test]
    fn one_line_or_two() {
        for (width, [one, two], most) in [
            (4, [70, 96], 4.5),
            (16, [70, 96], 22.5),
            (20, [70, 96], 32.5),
            (32, [70, 96], 56.5),
            (64, [70, 94], 160.5),
        ] {
            let (digests, others) = (digests(50_000, width), noise(100_000 * width));
            let set = Searched::of(&digests, width);
            let others = others.chunks_exact(width).skip(50_000);
            for queries in [digests.iter().map(Vec::as_slice).collect(), others.collect::<Vec<_>>()] {
                let asked: Vec<usize> = queries.iter().map(|query| set.find(query).1).collect();
                let share = |lines: usize| 100 * asked.iter().filter(|asked| **asked <= lines).count() / asked.len();
                assert!(share(1) >= one && share(2) >= two, "{width}: {} {}", share(1), share(2));
            }
            let bytes = (set.lines.len() * LINE) as f64 / digests.len() as f64;
            assert!(bytes < most, "{width}: {bytes}");
        }
    }
}
