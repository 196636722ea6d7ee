//! SHA-1, FIPS 180-4 (6.1).

#[cfg(target_arch = "aarch64")]
pub(super) mod arm_sha;
#[cfg(target_arch = "x86_64")]
pub(super) mod x86_sha;

use crate::family::{Family, sealed};
use crate::padding::Padding;
use crate::vector::feed::Feed;
use crate::vector::{Compress, Vector};
use crate::word::Words;

/// The SHA-1 compression function: 5 words of 32 bits, blocks of 64 bytes, big-endian.
#[derive(Clone, Copy, Debug)]
pub struct Sha1;

/// FIPS 180-4, 5.3.1.
pub(super) const INITIAL: [u32; 8] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0, 0, 0, 0];

/// FIPS 180-4, 4.2.1: one constant for every 20 rounds.
pub(crate) const K: [u32; 4] = [0x5a82_7999, 0x6ed9_eba1, 0x8f1b_bcdc, 0xca62_c1d6];

/// Rounds in which the next block is staged; in the rest of the 80 the last stores reach the cache.
const STAGING: usize = 64;

impl sealed::Sealed for Sha1 {}

impl Family for Sha1 {
    type Word = u32;
    /// Five words, and room: its dedicated instructions load four at a time.
    type State = Words<8>;
    type Block = Words<16>;
    const STATE_WORDS: usize = 5;
    const BIG_ENDIAN: bool = true;
    const PADDING: Padding = Padding::Length;
}

impl Compress for Sha1 {
    const STAGED: bool = true;

    #[inline(always)]
    fn compress<V: Vector<Word = u32>>(proof: V::Proof, state: &mut [V; 8], mut w: [V; 16], feed: impl Feed) {
        feed.prefetch(0, 1);
        let [mut a, mut b, mut c, mut d, mut e, ..] = *state;

        // FIPS 180-4, 6.1.2, step 3, with names that move instead of values; the message schedule (step 1) is a
        // window of 16 words that a round advances by one.
        macro_rules! round {
            ($f:ident, $a:ident, $b:ident, $c:ident, $d:ident, $e:ident, $t:expr) => {
                let t = $t;
                if t < STAGING {
                    feed.stage(t, STAGING);
                }
                if t >= 16 {
                    let sum = w[(t + 13) % 16].xor(w[(t + 8) % 16]).xor(w[(t + 2) % 16]);
                    w[t % 16] = sum.xor_rotate_left::<1>(w[t % 16]);
                }
                let sum = $e.add(V::splat(proof, K[t / 20]).add(w[t % 16])).pin();
                $e = sum.add($f($b, $c, $d)).add($a.rotate_left::<5>());
                $b = $b.rotate_left::<30>();
            };
        }
        macro_rules! rounds {
            ($f:ident: $($t:literal)*) => {
                $(
                    round!($f, a, b, c, d, e, $t);
                    round!($f, e, a, b, c, d, $t + 1);
                    round!($f, d, e, a, b, c, $t + 2);
                    round!($f, c, d, e, a, b, $t + 3);
                    round!($f, b, c, d, e, a, $t + 4);
                )*
            };
        }
        rounds!(ch: 0 5 10 15);
        rounds!(parity: 20 25 30 35);
        rounds!(maj: 40 45 50 55);
        rounds!(parity: 60 65 70 75);

        for (state, word) in state.iter_mut().zip([a, b, c, d, e]) {
            *state = state.add(word);
        }
    }
}

// FIPS 180-4, 4.1.1.
#[inline(always)]
fn ch<V: Vector>(x: V, y: V, z: V) -> V {
    x.choose(y, z)
}
#[inline(always)]
fn parity<V: Vector>(x: V, y: V, z: V) -> V {
    x.xor3(y, z)
}
#[inline(always)]
fn maj<V: Vector>(x: V, y: V, z: V) -> V {
    x.majority(y, z, &mut y.xor(z))
}
