//! Which way to get bytes is faster on this machine.
//!
//! Copying what is in memory costs bandwidth, mapping it the work on page tables; whichever is dearer, by up to a half,
//! depends on the CPU, the hypervisor and the file system's pages. So the workers try both on the files themselves, take
//! the faster, and now and then try again.

use std::time::Duration;

/// A way to get bytes that are in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    Read,
    /// If the file is long and mapping was asked for.
    Map,
}

/// Bytes by which a way is judged.
const TRIAL: u64 = 16 << 20;

/// Bytes that say nothing at first: the memory that they are read into is new.
const FIRST: u64 = 8 << 20;

/// Bytes after which the ways are tried again.
const RUN: u64 = 64 * TRIAL;

/// Bytes of a turn below which it says nothing.
const TURN: u64 = 1 << 20;

/// What each way has cost.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// Bytes that were got before any way was tried.
    first: u64,
    read: Cost,
    map: Cost,
    /// Bytes since both were tried.
    run: u64,
}

#[derive(Debug, Default)]
struct Cost {
    bytes: u64,
    time: Duration,
}

impl Pace {
    /// The way of the next turn.
    pub(super) fn way(&self) -> Way {
        let is_tried = |cost: &Cost| cost.bytes >= TRIAL;
        match (is_tried(&self.read), is_tried(&self.map)) {
            (false, _) => Way::Read,
            (true, false) => Way::Map,
            (true, true) if self.map.per_byte() < self.read.per_byte() => Way::Map,
            (true, true) => Way::Read,
        }
    }

    /// A turn took so long for so many bytes.
    pub(super) fn took(&mut self, way: Way, bytes: u64, time: Duration) {
        if bytes < TURN {
            return;
        }
        if self.first < FIRST {
            self.first += bytes;
            return;
        }
        let cost = if way == Way::Read { &mut self.read } else { &mut self.map };
        if cost.bytes < TRIAL {
            cost.bytes += bytes;
            cost.time += time;
            return;
        }
        self.run += bytes;
        if self.run >= RUN {
            *self = Pace { first: FIRST, ..Pace::default() };
        }
    }
}

impl Cost {
    fn per_byte(&self) -> f64 {
        self.time.as_secs_f64() / self.bytes as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of each way, where a byte takes so many nanoseconds.
    fn share(read: u64, map: u64) -> (u64, u64) {
        let mut pace = Pace::default();
        let (mut by_read, mut by_map) = (0, 0);
        for _ in 0..10_000 {
            match pace.way() {
                Way::Read => {
                    by_read += TURN;
                    pace.took(Way::Read, TURN, Duration::from_nanos(read * TURN));
                }
                Way::Map => {
                    by_map += TURN;
                    pace.took(Way::Map, TURN, Duration::from_nanos(map * TURN));
                }
            }
            // Too few to tell.
            pace.took(Way::Map, 1, Duration::from_secs(1));
        }
        (by_read, by_map)
    }

    #[test]
    fn the_faster_way_is_taken_and_the_other_tried_again() {
        let (read, map) = share(2, 1);
        assert!(map > 50 * read && read > TRIAL, "{read} {map}");
        let (read, map) = share(1, 2);
        assert!(read > 50 * map && map > TRIAL, "{read} {map}");
    }
}
