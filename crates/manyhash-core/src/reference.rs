//! The algorithms once more, slow and obvious, one message at a time, line by line as the standards have them.
//!
//! Everything else is tested against this, and this against the standards' vectors. It shares the tables of constants
//! with the kernels, and no code.

use crate::algorithm::{Algorithm, MAX_DIGEST_BYTES, MD5_T, SHA1_K, SHA256_K, SHA512_K, Start};

/// The digest of a message, in the first [`Algorithm::digest_bytes`] bytes.
pub fn digest(algorithm: Algorithm, message: &[u8]) -> [u8; MAX_DIGEST_BYTES] {
    let mut digest = [0; MAX_DIGEST_BYTES];
    let bits = 8 * message.len() as u128;
    match algorithm.start() {
        Start::Md5(start) => {
            let mut state = *start;
            blocks::<64>(message, &(bits as u64).to_le_bytes(), |block| md5(&mut state, &block));
            write(&mut digest, state.map(u32::to_le_bytes));
        }
        Start::Sha1(start) => {
            let mut state = *start;
            blocks::<64>(message, &(bits as u64).to_be_bytes(), |block| sha1(&mut state, &block));
            write(&mut digest, state.map(u32::to_be_bytes));
        }
        Start::Sha256(start) => {
            let mut state = *start;
            blocks::<64>(message, &(bits as u64).to_be_bytes(), |block| sha256(&mut state, &block));
            write(&mut digest, state.map(u32::to_be_bytes));
        }
        Start::Sha512(start) => {
            let mut state = *start;
            blocks::<128>(message, &bits.to_be_bytes(), |block| sha512(&mut state, &block));
            write(&mut digest, state.map(u64::to_be_bytes));
        }
    }
    digest
}

/// RFC 1321, 3.1 and 3.2; FIPS 180-4, 5.1 and 5.2: the message, a 1 bit, zeros, and the length, in blocks.
fn blocks<const BLOCK: usize>(message: &[u8], length: &[u8], mut compress: impl FnMut([u8; BLOCK])) {
    let ended = message.iter().copied().chain([0x80]);
    let zeros = (BLOCK - (message.len() + 1 + length.len()) % BLOCK) % BLOCK;
    let mut padded = ended.chain(core::iter::repeat_n(0, zeros)).chain(length.iter().copied());
    for _ in 0..(message.len() + 1 + zeros + length.len()) / BLOCK {
        compress(core::array::from_fn(|_| padded.next().unwrap_or_default()));
    }
}

/// The words' bytes, one after another, as many as fit.
fn write<const N: usize>(digest: &mut [u8; MAX_DIGEST_BYTES], words: [[u8; N]; 8]) {
    for (to, from) in digest.iter_mut().zip(words.as_flattened()) {
        *to = *from;
    }
}

/// RFC 1321, 3.4.
fn md5(state: &mut [u32; 8], block: &[u8; 64]) {
    let x: [u32; 16] = core::array::from_fn(|k| u32::from_le_bytes(core::array::from_fn(|j| block[4 * k + j])));
    let [mut a, mut b, mut c, mut d, ..] = *state;
    for i in 0..64 {
        let (f, k, s) = match i / 16 {
            0 => ((b & c) | (!b & d), i, [7, 12, 17, 22]),
            1 => ((b & d) | (c & !d), (5 * i + 1) % 16, [5, 9, 14, 20]),
            2 => (b ^ c ^ d, (3 * i + 5) % 16, [4, 11, 16, 23]),
            _ => (c ^ (b | !d), (7 * i) % 16, [6, 10, 15, 21]),
        };
        let sum = a.wrapping_add(f).wrapping_add(x[k]).wrapping_add(MD5_T[i]);
        (a, d, c, b) = (d, c, b, b.wrapping_add(sum.rotate_left(s[i % 4])));
    }
    add(state, [a, b, c, d, 0, 0, 0, 0], u32::wrapping_add);
}

/// FIPS 180-4, 6.1.2.
fn sha1(state: &mut [u32; 8], block: &[u8; 64]) {
    let mut w = [0; 80];
    for t in 0..80 {
        w[t] = match t {
            0..16 => u32::from_be_bytes(core::array::from_fn(|j| block[4 * t + j])),
            _ => (w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16]).rotate_left(1),
        };
    }
    let [mut a, mut b, mut c, mut d, mut e, ..] = *state;
    for t in 0..80 {
        let f = match t / 20 {
            0 => (b & c) ^ (!b & d),
            2 => (b & c) ^ (b & d) ^ (c & d),
            _ => b ^ c ^ d,
        };
        let sum = a.rotate_left(5).wrapping_add(f).wrapping_add(e).wrapping_add(SHA1_K[t / 20]).wrapping_add(w[t]);
        (e, d, c, b, a) = (d, c, b.rotate_left(30), a, sum);
    }
    add(state, [a, b, c, d, e, 0, 0, 0], u32::wrapping_add);
}

/// FIPS 180-4, 6.2.2 and 6.4.2, with the functions of 4.1.2 and 4.1.3.
macro_rules! sha2 {
    ($name:ident, $word:ident, $k:ident, $rounds:literal, $big_0:tt, $big_1:tt, $small_0:tt, $small_1:tt) => {
        fn $name(state: &mut [$word; 8], block: &[u8; 16 * size_of::<$word>()]) {
            const BYTES: usize = size_of::<$word>();
            let mut w = [0; $rounds];
            for t in 0..$rounds {
                w[t] = match t {
                    0..16 => $word::from_be_bytes(core::array::from_fn(|j| block[BYTES * t + j])),
                    _ => sha2!(@shift w[t - 2], $small_1)
                        .wrapping_add(w[t - 7])
                        .wrapping_add(sha2!(@shift w[t - 15], $small_0))
                        .wrapping_add(w[t - 16]),
                };
            }
            let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
            for t in 0..$rounds {
                let ch = (e & f) ^ (!e & g);
                let maj = (a & b) ^ (a & c) ^ (b & c);
                let t1 = h
                    .wrapping_add(sha2!(@rotate e, $big_1))
                    .wrapping_add(ch)
                    .wrapping_add($k[t])
                    .wrapping_add(w[t]);
                let t2 = sha2!(@rotate a, $big_0).wrapping_add(maj);
                (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(t1), c, b, a, t1.wrapping_add(t2));
            }
            add(state, [a, b, c, d, e, f, g, h], $word::wrapping_add);
        }
    };
    (@rotate $x:expr, ($i:literal, $j:literal, $k:literal)) => {
        $x.rotate_right($i) ^ $x.rotate_right($j) ^ $x.rotate_right($k)
    };
    (@shift $x:expr, ($i:literal, $j:literal, $k:literal)) => {
        ($x.rotate_right($i) ^ $x.rotate_right($j) ^ ($x >> $k))
    };
}

sha2!(sha256, u32, SHA256_K, 64, (2, 13, 22), (6, 11, 25), (7, 18, 3), (17, 19, 10));
sha2!(sha512, u64, SHA512_K, 80, (28, 34, 39), (14, 18, 41), (1, 8, 7), (19, 61, 6));

/// The last step of each: the words are added to those that the block began with.
fn add<W: Copy>(state: &mut [W; 8], words: [W; 8], sum: impl Fn(W, W) -> W) {
    for (state, word) in state.iter_mut().zip(words) {
        *state = sum(*state, word);
    }
}
