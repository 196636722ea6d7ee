//! RIPEMD-160 (Dobbertin, Bosselaers, Preneel: "RIPEMD-160, a strengthened version of RIPEMD", 1996; ISO/IEC 10118-3).

use crate::family::{Family, sealed};
use crate::padding::Padding;
use crate::vector::feed::Feed;
use crate::vector::{Compress, Vector};
use crate::word::Words;

/// The RIPEMD-160 compression function: 5 words of 32 bits, blocks of 64 bytes, little-endian.
#[derive(Clone, Copy, Debug)]
pub struct Ripemd160;

/// The paper's appendix A: the initial value.
pub(super) const INITIAL: [u32; 5] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];

/// Appendix A: the constants of the five rounds, of the left line and of the right.
const K: [[u32; 5]; 2] =
    [[0, 0x5a82_7999, 0x6ed9_eba1, 0x8f1b_bcdc, 0xa953_fd4e], [0x50a2_8be6, 0x5c4d_d124, 0x6d70_3ef3, 0x7a6d_76e9, 0]];

impl sealed::Sealed for Ripemd160 {}

impl Family for Ripemd160 {
    type Word = u32;
    type State = Words<5>;
    type Block = Words<16>;
    const BIG_ENDIAN: bool = false;
    const PADDING: Padding = Padding::Length;
}

impl Compress for Ripemd160 {
    #[inline(always)]
    fn compress<V: Vector<Word = u32>>(proof: V::Proof, state: &mut [V; 5], x: [V; 16], feed: impl Feed) {
        feed.prefetch(0, 1);
        let (mut left, mut right) = (*state, *state);

        // Appendix A: a step of each line, which wait for themselves alone.
        macro_rules! step {
            ($line:ident, $f:ident, $k:expr, $r:literal, $s:literal) => {
                let [a, b, c, d, e] = $line;
                let sum = a.add(V::splat(proof, $k).add(x[$r])).pin();
                $line = [e, $f(b, c, d, sum).rotate_left::<$s>().add(e), b, c.rotate_left::<10>(), d];
            };
        }
        // A round: the function of each line, and four steps to a line of the text: [r s r' s'].
        macro_rules! steps {
            ($left:ident $right:ident $round:literal: $([$r:literal $s:literal $rr:literal $ss:literal])*) => {
                $(
                    step!(left, $left, K[0][$round], $r, $s);
                    step!(right, $right, K[1][$round], $rr, $ss);
                )*
            };
        }
        steps! { f1 f5 0:
            [0 11 5 8] [1 14 14 9] [2 15 7 9] [3 12 0 11]
            [4 5 9 13] [5 8 2 15] [6 7 11 15] [7 9 4 5]
            [8 11 13 7] [9 13 6 7] [10 14 15 8] [11 15 8 11]
            [12 6 1 14] [13 7 10 14] [14 9 3 12] [15 8 12 6]
        }
        steps! { f2 f4 1:
            [7 7 6 9] [4 6 11 13] [13 8 3 15] [1 13 7 7]
            [10 11 0 12] [6 9 13 8] [15 7 5 9] [3 15 10 11]
            [12 7 14 7] [0 12 15 7] [9 15 8 12] [5 9 12 7]
            [2 11 4 6] [14 7 9 15] [11 13 1 13] [8 12 2 11]
        }
        steps! { f3 f3 2:
            [3 11 15 9] [10 13 5 7] [14 6 1 15] [4 7 3 11]
            [9 14 7 8] [15 9 14 6] [8 13 6 6] [1 15 9 14]
            [2 14 11 12] [7 8 8 13] [0 13 12 5] [6 6 2 14]
            [13 5 10 13] [11 12 0 13] [5 7 4 7] [12 5 13 5]
        }
        steps! { f4 f2 3:
            [1 11 8 15] [9 12 6 5] [11 14 4 8] [10 15 1 11]
            [0 14 3 14] [8 15 11 14] [12 9 15 6] [4 8 0 14]
            [13 9 5 6] [3 14 12 9] [7 5 2 12] [15 6 13 9]
            [14 8 9 12] [5 6 7 5] [6 5 10 15] [2 12 14 8]
        }
        steps! { f5 f1 4:
            [4 9 12 8] [0 15 15 5] [5 5 10 12] [9 11 4 9]
            [7 6 1 12] [12 8 5 5] [2 13 8 14] [10 12 7 6]
            [14 5 6 8] [1 12 2 13] [3 13 13 6] [8 14 14 5]
            [11 11 0 15] [6 8 3 13] [15 5 9 11] [13 6 11 11]
        }

        let [a, b, c, d, e] = left;
        let [aa, bb, cc, dd, ee] = right;
        let [h0, h1, h2, h3, h4] = *state;
        *state = [h1.add(c).add(dd), h2.add(d).add(ee), h3.add(e).add(aa), h4.add(a).add(bb), h0.add(b).add(cc)];
    }
}

// Appendix A: the functions of the rounds, each added to the sum; `x` is the word that was computed last.
#[inline(always)]
fn f1<V: Vector>(x: V, y: V, z: V, sum: V) -> V {
    sum.add(x.xor3(y, z))
}
#[inline(always)]
fn f2<V: Vector>(x: V, y: V, z: V, sum: V) -> V {
    sum.add(x.choose(y, z))
}
#[inline(always)]
fn f3<V: Vector>(x: V, y: V, z: V, sum: V) -> V {
    sum.add(x.or_not_xor(z, y))
}
#[inline(always)]
fn f4<V: Vector>(x: V, y: V, z: V, sum: V) -> V {
    x.choose_into(y, z, sum)
}
#[inline(always)]
fn f5<V: Vector>(x: V, y: V, z: V, sum: V) -> V {
    sum.add(y.or_not_xor(x, z))
}
