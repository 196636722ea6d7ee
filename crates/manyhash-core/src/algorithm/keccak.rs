//! SHA-3, FIPS 202, and Keccak-256 as used by Ethereum: one permutation, with blocks of as many words as the capacity
//! leaves.

#[cfg(target_arch = "aarch64")]
pub(super) mod arm_sha;

use crate::family::{Family, sealed};
use crate::padding::Padding;
use crate::vector::feed::Feed;
use crate::vector::{Compress, Vector};
use crate::word::Words;

/// `Keccak-f[1600]` in a sponge: 25 words of 64 bits, blocks of `RATE` words, little-endian. `FIRST` is the first byte
/// after a message: the function's suffix bits, and the first 1 bit of the padding.
#[derive(Clone, Copy, Debug)]
pub struct Keccak<const RATE: usize, const FIRST: u8>;

/// FIPS 202, 6.1: the capacity is twice the digest, and the bits 01 follow a message.
pub type Sha3_224 = Keccak<18, 0b110>;
/// FIPS 202, 6.1.
pub type Sha3_256 = Keccak<17, 0b110>;
/// FIPS 202, 6.1.
pub type Sha3_384 = Keccak<13, 0b110>;
/// FIPS 202, 6.1.
pub type Sha3_512 = Keccak<9, 0b110>;
/// The submission to NIST, before suffix bits were added to a message ("The Keccak reference", version 3.0, 1.1.2).
pub type Keccak256 = Keccak<17, 0b1>;

/// FIPS 202, 4: a sponge starts from zeros.
pub(super) const INITIAL: [u64; 25] = [0; 25];

/// FIPS 202, 3.2.5: the constants of iota, a round each.
pub(crate) const RC: [u64; 24] = [
    0x0000_0000_0000_0001,
    0x0000_0000_0000_8082,
    0x8000_0000_0000_808a,
    0x8000_0000_8000_8000,
    0x0000_0000_0000_808b,
    0x0000_0000_8000_0001,
    0x8000_0000_8000_8081,
    0x8000_0000_0000_8009,
    0x0000_0000_0000_008a,
    0x0000_0000_0000_0088,
    0x0000_0000_8000_8009,
    0x0000_0000_8000_000a,
    0x0000_0000_8000_808b,
    0x8000_0000_0000_008b,
    0x8000_0000_0000_8089,
    0x8000_0000_0000_8003,
    0x8000_0000_0000_8002,
    0x8000_0000_0000_0080,
    0x0000_0000_0000_800a,
    0x8000_0000_8000_000a,
    0x8000_0000_8000_8081,
    0x8000_0000_0000_8080,
    0x0000_0000_8000_0001,
    0x8000_0000_8000_8008,
];

impl<const RATE: usize, const FIRST: u8> sealed::Sealed for Keccak<RATE, FIRST> {}

impl<const RATE: usize, const FIRST: u8> Family for Keccak<RATE, FIRST> {
    type Word = u64;
    /// The word of column x and row y is number x + 5 y: FIPS 202, 3.1.2.
    type State = Words<25>;
    type Block = Words<RATE>;
    const BIG_ENDIAN: bool = false;
    const PADDING: Padding = Padding::Sponge { first: FIRST };
}

impl<const RATE: usize, const FIRST: u8> Compress for Keccak<RATE, FIRST> {
    #[inline(always)]
    fn compress<V: Vector<Word = u64>>(proof: V::Proof, state: &mut [V; 25], block: [V; RATE], feed: impl Feed) {
        feed.prefetch(0, 1);
        // FIPS 202, 4, step 6.
        for (state, word) in state.iter_mut().zip(block) {
            *state = state.xor(word);
        }
        for rc in RC {
            round(state);
            // FIPS 202, 3.2.5: iota.
            state[0] = state[0].xor(V::splat(proof, rc));
        }
    }
}

/// FIPS 202, 3.3: a round without iota.
#[inline(always)]
fn round<V: Vector>(a: &mut [V; 25]) {
    // 3.2.1: theta, which adds to a word the parity of the column before it, and that of the next one, rotated. What can
    // rotate a sum as it makes it does so with rho, below.
    let mut sums = [a[0]; 5];
    macro_rules! theta {
        ($($x:literal: $before:literal $after:literal;)*) => {
            let parity = [$(a[$x].xor3(a[$x + 5], a[$x + 10]).xor3(a[$x + 15], a[$x + 20])),*];
            $(
                let (before, after) = (parity[$before], parity[$after].rotate_left::<1>());
                if V::ROTATES_SUMS {
                    sums[$x] = before.xor(after);
                } else {
                    a[$x] = a[$x].xor3(before, after);
                    a[$x + 5] = a[$x + 5].xor3(before, after);
                    a[$x + 10] = a[$x + 10].xor3(before, after);
                    a[$x + 15] = a[$x + 15].xor3(before, after);
                    a[$x + 20] = a[$x + 20].xor3(before, after);
                }
            )*
        };
    }
    theta!(0: 4 1; 1: 0 2; 2: 1 3; 3: 2 4; 4: 3 0;);

    // 3.2.2 and 3.2.3: rho and pi, which bring five words together, [number distance] each, and 3.2.4: chi, a row of them.
    let words = *a;
    macro_rules! row {
        ($first:literal: $([$from:literal $distance:literal])*) => {
            let b = [$(match ($distance, V::ROTATES_SUMS) {
                (0, false) => words[$from],
                (0, true) => words[$from].xor(sums[$from % 5]),
                (_, false) => words[$from].rotate_left::<$distance>(),
                (_, true) => words[$from].xor_rotate_left::<$distance>(sums[$from % 5]),
            }),*];
            a[$first] = b[0].xor_and_not(b[1], b[2]);
            a[$first + 1] = b[1].xor_and_not(b[2], b[3]);
            a[$first + 2] = b[2].xor_and_not(b[3], b[4]);
            a[$first + 3] = b[3].xor_and_not(b[4], b[0]);
            a[$first + 4] = b[4].xor_and_not(b[0], b[1]);
        };
    }
    row!(0: [0 0] [6 44] [12 43] [18 21] [24 14]);
    row!(5: [3 28] [9 20] [10 3] [16 45] [22 61]);
    row!(10: [1 1] [7 6] [13 25] [19 8] [20 18]);
    row!(15: [4 27] [5 36] [11 10] [17 15] [23 56]);
    row!(20: [2 62] [8 55] [14 39] [15 41] [21 2]);
}
