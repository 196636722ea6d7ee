//! The table in which the handler finds windows.
//!
//! A handler may neither lock nor wait, so it reads the bounds of a window while another thread may be writing those of
//! the next one in the same slot. Taken from both, they would span what belongs to neither, and zeros would be mapped over
//! it. So a slot has a version, which tells that both bounds are of one window if it was the same before and after.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};

/// Maximum number of windows in the process.
const SLOTS: usize = 4096;

/// A window's place in the table.
struct Slot {
    /// Four more for each window that the slot has had, and what the slot is: [`FREE`], [`TAKEN`] or [`STANDS`].
    version: AtomicUsize,
    /// The address of its first byte.
    start: AtomicUsize,
    /// The address after its last byte.
    end: AtomicUsize,
    /// Whether zeros were mapped over some of it.
    lost: AtomicBool,
}

/// No window has the slot.
const FREE: usize = 0;

/// A window has it, whose bounds are not there yet.
const TAKEN: usize = 1;

/// A window has it, and its bounds are there.
const STANDS: usize = 2;

/// What a version says that its slot is.
const STATE: usize = 3;

/// All windows that there are. A handler cannot allocate, so it is of a fixed size.
static TABLE: [Slot; SLOTS] = [const {
    Slot {
        version: AtomicUsize::new(FREE),
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        lost: AtomicBool::new(false),
    }
}; SLOTS];

/// Where the search for a free slot begins.
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// Takes a slot that was free.
pub(crate) fn claim() -> Option<usize> {
    let first = NEXT.fetch_add(1, Ordering::Relaxed);
    (0..SLOTS).map(|i| first.wrapping_add(i) % SLOTS).find(|&i| {
        let version = &TABLE[i].version;
        let found = version.load(Ordering::Relaxed);
        let taken = found.wrapping_add(TAKEN);
        found & STATE == FREE && version.compare_exchange(found, taken, Ordering::Acquire, Ordering::Relaxed).is_ok()
    })
}

/// The window in a slot that was claimed is mapped here.
pub(crate) fn publish(slot: usize, window: Range<usize>) {
    let Slot { version, start, end, lost } = &TABLE[slot];
    // Whoever reads one of the bounds below reads a version then that is not the last window's.
    fence(Ordering::Release);
    start.store(window.start, Ordering::Relaxed);
    end.store(window.end, Ordering::Relaxed);
    lost.store(false, Ordering::Relaxed);
    let taken = version.load(Ordering::Relaxed);
    version.store(taken - TAKEN + STANDS, Ordering::Release);
}

/// Gives a slot back: from here on the handler finds nothing in it.
pub(crate) fn release(slot: usize) {
    let version = &TABLE[slot].version;
    let last = version.load(Ordering::Relaxed) | STATE;
    version.store(last.wrapping_add(1), Ordering::Release);
}

/// Some of the window in this slot is zeros.
pub(crate) fn lose(slot: usize) {
    TABLE[slot].lost.store(true, Ordering::Release);
}

/// Whether some of the window in this slot is zeros.
pub(crate) fn has_lost(slot: usize) -> bool {
    TABLE[slot].lost.load(Ordering::Acquire)
}

/// The slot and the end of the window that has this address. It neither locks nor allocates.
pub(crate) fn find(address: usize) -> Option<(usize, usize)> {
    TABLE.iter().enumerate().find_map(|(i, Slot { version, start, end, .. })| {
        let before = version.load(Ordering::Acquire);
        let (start, end) = (start.load(Ordering::Relaxed), end.load(Ordering::Relaxed));
        fence(Ordering::Acquire);
        let stands = before & STATE == STANDS && version.load(Ordering::Relaxed) == before;
        (stands && (start..end).contains(&address)).then_some((i, end))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    /// Addresses that are in no window, between and before those of windows that come and go.
    #[test]
    fn nothing_is_found_between_windows() {
        let ended = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for place in (1..=1000).cycle().take_while(|_| !ended.load(Ordering::Relaxed)) {
                        let slot = claim().expect("a free slot");
                        publish(slot, place << 20..(place << 20) + 1000);
                        release(slot);
                    }
                });
            }
            let found = (0..600_000).filter_map(|i| find(((i % 1000) << 20) + 2000)).next();
            ended.store(true, Ordering::Relaxed);
            assert_eq!(found, None);
        });
    }
}
