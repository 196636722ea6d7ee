//! Every algorithm once more, slow and obvious: one message at a time, line by line as in its standard.
//!
//! Tests compare everything else with this module, and this module with the standards' vectors. It shares the tables of
//! constants with the kernels, but no code.

use crate::algorithm::{Algorithm, KECCAK_RC, MD5_T, SHA1_K, SHA256_K, SHA512_K, Start};
use crate::family::MAX_DIGEST_BYTES;

/// Hashes a message. The digest is the first [`Algorithm::digest_bytes`] bytes.
pub fn digest(algorithm: Algorithm, message: &[u8]) -> [u8; MAX_DIGEST_BYTES] {
    let mut digest = [0; MAX_DIGEST_BYTES];
    let bits = 8 * message.len() as u128;
    match algorithm.start() {
        Start::Md5(start) => {
            let mut state = *start;
            blocks::<64>(message, &(bits as u64).to_le_bytes(), |block| md5(&mut state, &block));
            write(&mut digest, &state.map(u32::to_le_bytes));
        }
        Start::Sha1(start) => {
            let mut state = *start;
            blocks::<64>(message, &(bits as u64).to_be_bytes(), |block| sha1(&mut state, &block));
            write(&mut digest, &state.map(u32::to_be_bytes));
        }
        Start::Sha256(start) => {
            let mut state = *start;
            blocks::<64>(message, &(bits as u64).to_be_bytes(), |block| sha256(&mut state, &block));
            write(&mut digest, &state.map(u32::to_be_bytes));
        }
        Start::Sha512(start) => {
            let mut state = *start;
            blocks::<128>(message, &bits.to_be_bytes(), |block| sha512(&mut state, &block));
            write(&mut digest, &state.map(u64::to_be_bytes));
        }
        Start::Sha3_224(_) => sponge::<144>(message, 0b110, &mut digest),
        Start::Sha3_256(_) => sponge::<136>(message, 0b110, &mut digest),
        Start::Sha3_384(_) => sponge::<104>(message, 0b110, &mut digest),
        Start::Sha3_512(_) => sponge::<72>(message, 0b110, &mut digest),
        Start::Keccak256(_) => sponge::<136>(message, 0b1, &mut digest),
        Start::Sm3(start) => {
            let mut state = *start;
            blocks::<64>(message, &(bits as u64).to_be_bytes(), |block| sm3(&mut state, &block));
            write(&mut digest, &state.map(u32::to_be_bytes));
        }
        Start::Ripemd160(start) => {
            let mut state = *start;
            blocks::<64>(message, &(bits as u64).to_le_bytes(), |block| ripemd160(&mut state, &block));
            write(&mut digest, &state.map(u32::to_le_bytes));
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
fn write<const N: usize>(digest: &mut [u8; MAX_DIGEST_BYTES], words: &[[u8; N]]) {
    for (to, from) in digest.iter_mut().zip(words.as_flattened()) {
        *to = *from;
    }
}

/// RFC 1321, 3.4.
fn md5(state: &mut [u32; 4], block: &[u8; 64]) {
    let x: [u32; 16] = core::array::from_fn(|k| u32::from_le_bytes(core::array::from_fn(|j| block[4 * k + j])));
    let [mut a, mut b, mut c, mut d] = *state;
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
    add(state, [a, b, c, d], u32::wrapping_add);
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
fn add<W: Copy, const N: usize>(state: &mut [W; N], words: [W; N], sum: impl Fn(W, W) -> W) {
    for (state, word) in state.iter_mut().zip(words) {
        *state = sum(*state, word);
    }
}

/// FIPS 202, 4 and 5.1: the message, bits that tell functions apart, and padding, in blocks that a state absorbs.
fn sponge<const RATE: usize>(message: &[u8], first: u8, digest: &mut [u8; MAX_DIGEST_BYTES]) {
    let mut state = [[0u64; 5]; 5];
    let blocks = message.len() / RATE + 1;
    for block in 0..blocks {
        let mut bytes = [0; RATE];
        for (i, byte) in bytes.iter_mut().enumerate() {
            let at = block * RATE + i;
            *byte = if at == message.len() { first } else { message.get(at).copied().unwrap_or_default() };
        }
        if block + 1 == blocks {
            bytes[RATE - 1] |= 0x80;
        }
        for (i, word) in bytes.chunks(8).enumerate() {
            state[i % 5][i / 5] ^= u64::from_le_bytes(core::array::from_fn(|j| word[j]));
        }
        keccak_f(&mut state);
    }
    for (i, bytes) in digest.chunks_mut(8).enumerate() {
        bytes.copy_from_slice(&state[i % 5][i / 5].to_le_bytes());
    }
}

/// FIPS 202, 3.2 and 3.3, on words `a[x][y]`.
fn keccak_f(a: &mut [[u64; 5]; 5]) {
    for rc in KECCAK_RC {
        // 3.2.1.
        let c: [u64; 5] = core::array::from_fn(|x| a[x].iter().fold(0, |c, word| c ^ word));
        for (x, column) in a.iter_mut().enumerate() {
            for word in column {
                *word ^= c[(x + 4) % 5] ^ c[(x + 1) % 5].rotate_left(1);
            }
        }
        // 3.2.2.
        let (mut x, mut y) = (1, 0);
        for t in 0..24 {
            a[x][y] = a[x][y].rotate_left((t + 1) * (t + 2) / 2 % 64);
            (x, y) = (y, (2 * x + 3 * y) % 5);
        }
        // 3.2.3.
        let b = *a;
        for x in 0..5 {
            for y in 0..5 {
                a[x][y] = b[(x + 3 * y) % 5][x];
            }
        }
        // 3.2.4.
        let b = *a;
        for x in 0..5 {
            for y in 0..5 {
                a[x][y] = b[x][y] ^ (!b[(x + 1) % 5][y] & b[(x + 2) % 5][y]);
            }
        }
        // 3.2.5.
        a[0][0] ^= rc;
    }
}

/// GB/T 32905-2016, 5.3.
fn sm3(state: &mut [u32; 8], block: &[u8; 64]) {
    let p0 = |x: u32| x ^ x.rotate_left(9) ^ x.rotate_left(17);
    let p1 = |x: u32| x ^ x.rotate_left(15) ^ x.rotate_left(23);
    let mut w = [0u32; 68];
    for j in 0..68 {
        w[j] = match j {
            0..16 => u32::from_be_bytes(core::array::from_fn(|i| block[4 * j + i])),
            _ => p1(w[j - 16] ^ w[j - 9] ^ w[j - 3].rotate_left(15)) ^ w[j - 13].rotate_left(7) ^ w[j - 6],
        };
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for j in 0..64 {
        let t: u32 = if j < 16 { 0x79cc_4519 } else { 0x7a87_9d8a };
        let ff = if j < 16 { a ^ b ^ c } else { (a & b) | (a & c) | (b & c) };
        let gg = if j < 16 { e ^ f ^ g } else { (e & f) | (!e & g) };
        let ss1 = a.rotate_left(12).wrapping_add(e).wrapping_add(t.rotate_left(j as u32 % 32)).rotate_left(7);
        let ss2 = ss1 ^ a.rotate_left(12);
        let tt1 = ff.wrapping_add(d).wrapping_add(ss2).wrapping_add(w[j] ^ w[j + 4]);
        let tt2 = gg.wrapping_add(h).wrapping_add(ss1).wrapping_add(w[j]);
        (d, c, b, a) = (c, b.rotate_left(9), a, tt1);
        (h, g, f, e) = (g, f.rotate_left(19), e, p0(tt2));
    }
    add(state, [a, b, c, d, e, f, g, h], |before, after| before ^ after);
}

/// The appendix A of RIPEMD-160's paper: which word a step takes, and how far it rotates, of the left line and the
/// right.
#[rustfmt::skip]
const RIPEMD160: [[u8; 80]; 4] = [
    [
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
        7, 4, 13, 1, 10, 6, 15, 3, 12, 0, 9, 5, 2, 14, 11, 8,
        3, 10, 14, 4, 9, 15, 8, 1, 2, 7, 0, 6, 13, 11, 5, 12,
        1, 9, 11, 10, 0, 8, 12, 4, 13, 3, 7, 15, 14, 5, 6, 2,
        4, 0, 5, 9, 7, 12, 2, 10, 14, 1, 3, 8, 11, 6, 15, 13,
    ],
    [
        11, 14, 15, 12, 5, 8, 7, 9, 11, 13, 14, 15, 6, 7, 9, 8,
        7, 6, 8, 13, 11, 9, 7, 15, 7, 12, 15, 9, 11, 7, 13, 12,
        11, 13, 6, 7, 14, 9, 13, 15, 14, 8, 13, 6, 5, 12, 7, 5,
        11, 12, 14, 15, 14, 15, 9, 8, 9, 14, 5, 6, 8, 6, 5, 12,
        9, 15, 5, 11, 6, 8, 13, 12, 5, 12, 13, 14, 11, 8, 5, 6,
    ],
    [
        5, 14, 7, 0, 9, 2, 11, 4, 13, 6, 15, 8, 1, 10, 3, 12,
        6, 11, 3, 7, 0, 13, 5, 10, 14, 15, 8, 12, 4, 9, 1, 2,
        15, 5, 1, 3, 7, 14, 6, 9, 11, 8, 12, 2, 10, 0, 4, 13,
        8, 6, 4, 1, 3, 11, 15, 0, 5, 12, 2, 13, 9, 7, 10, 14,
        12, 15, 10, 4, 1, 5, 8, 7, 6, 2, 13, 14, 0, 3, 9, 11,
    ],
    [
        8, 9, 9, 11, 13, 15, 15, 5, 7, 7, 8, 11, 14, 14, 12, 6,
        9, 13, 15, 7, 12, 8, 9, 11, 7, 7, 12, 7, 6, 15, 13, 11,
        9, 7, 15, 11, 8, 6, 6, 14, 12, 13, 5, 14, 13, 13, 7, 5,
        15, 5, 8, 11, 14, 14, 6, 14, 6, 9, 12, 9, 12, 5, 15, 8,
        8, 5, 12, 9, 12, 5, 14, 6, 8, 13, 6, 5, 15, 13, 11, 11,
    ],
];

/// The same appendix's pseudo-code.
fn ripemd160(state: &mut [u32; 5], block: &[u8; 64]) {
    let x: [u32; 16] = core::array::from_fn(|i| u32::from_le_bytes(core::array::from_fn(|j| block[4 * i + j])));
    let f = |round: usize, x: u32, y: u32, z: u32| match round {
        0 => x ^ y ^ z,
        1 => (x & y) | (!x & z),
        2 => (x | !y) ^ z,
        3 => (x & z) | (y & !z),
        _ => x ^ (y | !z),
    };
    let line = |r: &[u8; 80], s: &[u8; 80], k: [u32; 5], first: usize| {
        let [mut a, mut b, mut c, mut d, mut e] = *state;
        for j in 0..80 {
            let round = j / 16;
            let sum = a
                .wrapping_add(f(first.abs_diff(round), b, c, d))
                .wrapping_add(x[usize::from(r[j])])
                .wrapping_add(k[round]);
            (a, e, d, c, b) = (e, d, c.rotate_left(10), b, sum.rotate_left(s[j].into()).wrapping_add(e));
        }
        [a, b, c, d, e]
    };
    let [r, s, rr, ss] = &RIPEMD160;
    let left = line(r, s, [0, 0x5a82_7999, 0x6ed9_eba1, 0x8f1b_bcdc, 0xa953_fd4e], 0);
    let right = line(rr, ss, [0x50a2_8be6, 0x5c4d_d124, 0x6d70_3ef3, 0x7a6d_76e9, 0], 4);
    *state =
        core::array::from_fn(|i| state[(i + 1) % 5].wrapping_add(left[(i + 2) % 5]).wrapping_add(right[(i + 3) % 5]));
}
