//! A set of digests in memory.

use super::layout::{Layout, Line, Sorted};
use manyhash_core::prefetch_all;
use std::convert::Infallible;

/// Digests from the one that is looked up to the one whose line is asked for.
const AHEAD: usize = 16;

/// Digests of one length, of which one is found in one or two lines of the processor's caches.
pub struct Set {
    layout: Layout,
    lines: Vec<Line>,
}

impl Set {
    /// A set of digests, which ascend and are all different.
    pub fn of_sorted<const WIDTH: usize>(digests: &[[u8; WIDTH]]) -> Self {
        const { assert!(WIDTH > 0 && WIDTH <= super::layout::LINE) }
        let layout = Layout::new(WIDTH, digests.len() as u64);
        let lines = layout.lines(Sorted { cells: digests.as_flattened(), cell: WIDTH });
        Set { layout, lines: lines.collect() }
    }

    /// The set that has these lines.
    pub(super) fn of_lines(layout: Layout, lines: Vec<Line>) -> Self {
        Set { layout, lines }
    }

    /// Whether a digest is in it.
    #[inline]
    pub fn contains(&self, digest: &[u8]) -> bool {
        match self.layout.width {
            16 => self.contains_of::<16>(digest),
            20 => self.contains_of::<20>(digest),
            32 => self.contains_of::<32>(digest),
            _ => self.search(digest),
        }
    }

    /// Whether each of these digests is in it, in their order. Of a set that is larger than a processor's caches, the lines
    /// of those to come are on their way meanwhile, which takes about half the time of one look-up after another.
    pub fn contains_many<'s, D: AsRef<[u8]>>(&'s self, digests: &'s [D]) -> impl Iterator<Item = bool> + 's {
        digests.iter().enumerate().map(|(i, digest)| {
            if let Some(later) = digests.get(i + AHEAD)
                && let Some(line) = self.lines.get(self.layout.home(later.as_ref()) as usize)
            {
                prefetch_all(&line.0);
            }
            self.contains(digest.as_ref())
        })
    }

    /// [`contains`](Self::contains) for digests of this width, at least 8, without a branch on what is in memory, but for the rare one that
    /// neither the home nor the line after it decides: so a processor goes on to the next digest while the lines of this
    /// one are on their way.
    #[inline]
    fn contains_of<const WIDTH: usize>(&self, digest: &[u8]) -> bool {
        let Ok(digest) = <&[u8; WIDTH]>::try_from(digest) else { return false };
        let home = self.layout.home(digest) as usize;
        let Some([first, second]) = self.lines.get(home..).and_then(<[Line]>::first_chunk) else {
            return self.search(digest);
        };
        let [first, second] = [first, second].map(|line| line.0.as_chunks::<WIDTH>().0);
        let found = first.iter().chain(second).fold(false, |found, slot| found | (slot == digest));
        let reaches = second.last().is_some_and(|last| leading(last) > leading(digest));
        if found | reaches { found } else { self.search(digest) }
    }

    #[cold]
    fn search(&self, digest: &[u8]) -> bool {
        let Ok(found) =
            self.layout.search(digest, self.lines.len() as u64, |at| Ok::<_, Infallible>(&self.lines[at as usize]));
        found
    }
}

/// The leading bytes as a number that is in the order of digests.
#[inline]
fn leading<const WIDTH: usize>(digest: &[u8; WIDTH]) -> u64 {
    digest.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::Set;
    use crate::noise::noise;

    fn check<const WIDTH: usize>() {
        for count in [0, 1, 5, 1000] {
            for clustered in [false, true] {
                let noise = noise(2 * count * WIDTH);
                let mut digests = noise.as_chunks::<WIDTH>().0.to_vec();
                if clustered {
                    digests.iter_mut().for_each(|digest| digest[..9].fill(0xaa));
                }
                let others = digests.split_off(count);
                digests.sort_unstable();
                let set = Set::of_sorted(&digests);
                assert!(digests.iter().all(|digest| set.contains(digest)), "{WIDTH}");
                assert!(!others.iter().any(|digest| set.contains(digest)), "{WIDTH}");
                let both: Vec<_> = digests.iter().chain(&others).collect();
                let known: Vec<_> = set.contains_many(&both).collect();
                assert_eq!(known, [vec![true; count], vec![false; count]].concat(), "{WIDTH}");
                assert!(![&[][..], &[0; WIDTH], &[0xff; WIDTH]].into_iter().any(|digest| set.contains(digest)));
            }
        }
    }

    #[test]
    fn each_width_with_code_of_its_own_and_others() {
        check::<16>();
        check::<20>();
        check::<32>();
        check::<28>();
        check::<64>();
    }
}
