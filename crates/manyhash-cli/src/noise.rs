//! Bytes to hash where nobody brings any.

/// Bytes without a pattern, so that no two messages are the same: Marsaglia's xorshift64.
pub(crate) fn noise(length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for chunk in bytes.chunks_mut(8) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        chunk.copy_from_slice(&state.to_le_bytes()[..chunk.len()]);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::noise;

    #[test]
    fn noise_does_not_repeat() {
        let bytes = noise(8003);
        let mut words: Vec<_> = bytes.chunks_exact(8).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!((bytes.len(), words.len()), (8003, 1000));
    }
}
