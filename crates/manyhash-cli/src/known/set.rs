//! A set of digests in memory.

use super::layout::{Layout, Line, Sorted};
use std::convert::Infallible;

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

    /// The same for digests of this width, at least 8, without a branch on what is in memory, but for the rare one that
    /// the home does not decide: so a processor goes on to the next digest while the line of this one is on its way.
    #[inline]
    fn contains_of<const WIDTH: usize>(&self, digest: &[u8]) -> bool {
        let Ok(digest) = <&[u8; WIDTH]>::try_from(digest) else { return false };
        let Some(line) = self.lines.get(self.layout.home(digest) as usize) else { return false };
        let (slots, _) = line.0.as_chunks::<WIDTH>();
        let found = slots.iter().fold(false, |found, slot| found | (slot == digest));
        let reaches = slots.last().is_some_and(|last| leading(last) > leading(digest));
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
