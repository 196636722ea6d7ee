//! Cache lines asked for ahead of their use.
//!
//! Lanes read more streams than a CPU's own prefetchers follow. MD5, whose 64 lanes want 64 lines a row, does best with
//! one line a step; the others with all of them before their rounds begin.

use super::{BLOCK_WORDS, Vector, Word};

/// Lanes from which on it is worth asking. Fewer streams are followed by the CPU itself.
const LANES: usize = 8;

/// Blocks from the one being hashed to the one asked for: what measured best from the third-level cache and memory.
const BLOCKS: usize = 2;

const CACHE_LINE: usize = 64;

/// Lines of a message after which the kernels' own asking takes over.
const FIRST_LINES: usize = 4;

/// The lines of a block to come, of every lane.
#[derive(Clone, Copy)]
pub(crate) struct Ahead {
    messages: *const &'static [u8],
    at: usize,
}

impl Ahead {
    /// Ahead of the block `at` bytes into each message.
    ///
    /// # Safety
    /// There is a message for each lane of the vector that [`round`](Self::round) is called for, as long as it is.
    #[inline(always)]
    pub(crate) unsafe fn new(messages: *const &[u8], at: usize) -> Self {
        Ahead { messages: messages.cast(), at }
    }

    /// Asks for the lines that are due in this one of so many rounds.
    #[inline(always)]
    pub(crate) fn round<V: Vector>(self, round: usize, rounds: usize) {
        if V::LANES < LANES {
            return;
        }
        let block = BLOCK_WORDS * V::Word::BYTES;
        let lines = V::LANES * block / CACHE_LINE;
        for line in round * lines / rounds..(round + 1) * lines / rounds {
            // SAFETY: the remainder is below `V::LANES`, for each of which there is a message.
            let message = unsafe { (*self.messages.add(line % V::LANES)).as_ptr() };
            V::prefetch(message.wrapping_add(self.at + BLOCKS * block + line / V::LANES * CACHE_LINE));
        }
    }
}

/// Asks for the first lines of a message that will be hashed soon: its first row would wait for memory, and all lanes
/// with it.
#[inline]
pub fn prefetch(message: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    for line in message.chunks(CACHE_LINE).take(FIRST_LINES) {
        super::sse2::U32x4::prefetch(line.as_ptr());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = message;
}
