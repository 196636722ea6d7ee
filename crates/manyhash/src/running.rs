//! One message of one family, from its first byte to its digest.

use crate::lanes::Planned;
use manyhash_core::family::{MAX_BLOCK_BYTES, StateBytes};
use manyhash_core::short::MAX_SHORT_BYTES;
use manyhash_core::word::{Array, Shape};
use manyhash_core::{Family, State};
use zeroize::Zeroize;

/// What stands before every message of a batch: whole blocks, hashed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prefix<F: Family> {
    pub(crate) state: State<F>,
    pub(crate) bytes: usize,
}

impl<F: Family> Prefix<F> {
    /// Nothing: the state that messages start from.
    pub(crate) fn none(start: State<F>) -> Self {
        Prefix { state: start, bytes: 0 }
    }
}

/// Bytes in the longest word.
const WORD: usize = size_of::<u64>();

/// Room for the bytes of a block.
type Buffer<F> = Array<<F as Family>::Block, [u8; WORD]>;

fn bytes_of<F: Family>(buffer: &Buffer<F>) -> &[u8] {
    &buffer.as_ref().as_flattened()[..F::BLOCK_BYTES]
}

/// The state of a message so far: after its whole blocks, and the bytes that are no whole block yet.
#[derive(Clone, Debug)]
pub(crate) struct Running<F: Family> {
    state: State<F>,
    /// Bytes so far. The last `length % F::BLOCK_BYTES` of them are in `buffer`.
    length: u128,
    buffer: Buffer<F>,
}

impl<F: Planned> Running<F> {
    pub(crate) fn new(start: State<F>) -> Self {
        Running { state: start, length: 0, buffer: F::Block::filled([0; WORD]) }
    }

    /// Leaves nothing of the message in memory.
    pub(crate) fn wipe(&mut self) {
        self.state.as_mut().zeroize();
        self.buffer_mut().zeroize();
        self.length = 0;
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        let (whole, rest) = self.begin(bytes);
        if whole {
            compress::<F>(&mut self.state, bytes_of::<F>(&self.buffer));
        }
        if rest.is_empty() {
            return;
        }
        let blocks = whole_blocks::<F>(rest);
        if !blocks.is_empty() {
            compress::<F>(&mut self.state, blocks);
        }
        self.end(rest);
    }

    /// Takes the bytes that the block begun before still wants, and returns the rest; and whether that block is whole
    /// now, so that the state is due to be advanced by [`buffer`](Self::buffer).
    pub(crate) fn begin<'a>(&mut self, bytes: &'a [u8]) -> (bool, &'a [u8]) {
        let buffered = self.buffered();
        if buffered == 0 {
            return (false, bytes);
        }
        let (head, rest) = bytes.split_at(bytes.len().min(F::BLOCK_BYTES - buffered));
        self.buffer_mut()[buffered..][..head.len()].copy_from_slice(head);
        self.length += head.len() as u128;
        (self.buffered() == 0, rest)
    }

    /// Takes what [`begin`](Self::begin) returned, after the state was advanced by its [`whole_blocks`].
    pub(crate) fn end(&mut self, rest: &[u8]) {
        let tail = &rest[whole_blocks::<F>(rest).len()..];
        if !tail.is_empty() {
            self.buffer_mut()[..tail.len()].copy_from_slice(tail);
        }
        self.length += rest.len() as u128;
    }

    /// Bytes so far.
    pub(crate) fn length(&self) -> u128 {
        self.length
    }

    pub(crate) fn state(&self) -> &State<F> {
        &self.state
    }

    pub(crate) fn set_state(&mut self, state: &State<F>) {
        self.state = *state;
    }

    /// The block that is begun, or was just completed.
    pub(crate) fn buffer(&self) -> &[u8] {
        bytes_of::<F>(&self.buffer)
    }

    fn buffer_mut(&mut self) -> &mut [u8] {
        self.buffer.as_mut().as_flattened_mut()
    }

    /// The bytes that are no whole block yet.
    pub(crate) fn tail(&self) -> &[u8] {
        &self.buffer()[..self.buffered()]
    }

    fn buffered(&self) -> usize {
        (self.length % F::BLOCK_BYTES as u128) as usize
    }

    pub(crate) fn finalize(&self) -> StateBytes {
        finalize::<F>(&self.state, self.tail(), self.length)
    }
}

/// As many of the bytes, from the first on, as make whole blocks.
pub(crate) fn whole_blocks<F: Family>(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len() - bytes.len() % F::BLOCK_BYTES]
}

/// The digest of a whole message that `before` bytes, whole blocks that led to the state, stand before.
#[inline]
pub(crate) fn digest<F: Planned>(state: &State<F>, before: usize, message: &[u8]) -> StateBytes {
    let length = before as u128 + message.len() as u128;
    if F::final_blocks(message.len()) * F::BLOCK_BYTES <= 2 * MAX_BLOCK_BYTES {
        // Copied, a short message is hashed in one go.
        return finalize::<F>(state, message, length);
    }
    let mut state = *state;
    let blocks = whole_blocks::<F>(message);
    compress::<F>(&mut state, blocks);
    finalize::<F>(&state, &message[blocks.len()..], length)
}

/// The state by reference: copied to where another message's digest was on its way, it would seem to be that digest to
/// CPUs that guess which store a load reads from.
fn finalize<F: Planned>(state: &State<F>, end: &[u8], length: u128) -> StateBytes {
    let single = F::single();
    match single.short() {
        Some(kernel) if length < MAX_SHORT_BYTES as u128 => kernel.hash_one(state, length as usize - end.len(), end),
        _ => single.kernel().finish_one(state, end, length),
    }
}

/// Advances a state by whole blocks.
fn compress<F: Planned>(state: &mut State<F>, blocks: &[u8]) {
    F::single().kernel().compress_one(state, blocks, blocks.len() / F::BLOCK_BYTES);
}
