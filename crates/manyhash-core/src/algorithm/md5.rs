//! MD5, RFC 1321.

use crate::family::{Family, sealed};
use crate::padding::Padding;
use crate::vector::feed::Feed;
use crate::vector::{Compress, Vector};
use crate::word::Words;

/// The MD5 compression function: 4 words of 32 bits, blocks of 64 bytes, little-endian.
#[derive(Clone, Copy, Debug)]
pub struct Md5;

/// RFC 1321, 3.3: the words A, B, C, D.
pub(super) const INITIAL: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];

/// RFC 1321, 3.4: T[i], the integer part of 2^32 times |sin(i)|, i in radians from 1 to 64.
pub(crate) const T: [u32; 64] = [
    0xd76a_a478,
    0xe8c7_b756,
    0x2420_70db,
    0xc1bd_ceee,
    0xf57c_0faf,
    0x4787_c62a,
    0xa830_4613,
    0xfd46_9501,
    0x6980_98d8,
    0x8b44_f7af,
    0xffff_5bb1,
    0x895c_d7be,
    0x6b90_1122,
    0xfd98_7193,
    0xa679_438e,
    0x49b4_0821,
    0xf61e_2562,
    0xc040_b340,
    0x265e_5a51,
    0xe9b6_c7aa,
    0xd62f_105d,
    0x0244_1453,
    0xd8a1_e681,
    0xe7d3_fbc8,
    0x21e1_cde6,
    0xc337_07d6,
    0xf4d5_0d87,
    0x455a_14ed,
    0xa9e3_e905,
    0xfcef_a3f8,
    0x676f_02d9,
    0x8d2a_4c8a,
    0xfffa_3942,
    0x8771_f681,
    0x6d9d_6122,
    0xfde5_380c,
    0xa4be_ea44,
    0x4bde_cfa9,
    0xf6bb_4b60,
    0xbebf_bc70,
    0x289b_7ec6,
    0xeaa1_27fa,
    0xd4ef_3085,
    0x0488_1d05,
    0xd9d4_d039,
    0xe6db_99e5,
    0x1fa2_7cf8,
    0xc4ac_5665,
    0xf429_2244,
    0x432a_ff97,
    0xab94_23a7,
    0xfc93_a039,
    0x655b_59c3,
    0x8f0c_cc92,
    0xffef_f47d,
    0x8584_5dd1,
    0x6fa8_7e4f,
    0xfe2c_e6e0,
    0xa301_4314,
    0x4e08_11a1,
    0xf753_7e82,
    0xbd3a_f235,
    0x2ad7_d2bb,
    0xeb86_d391,
];

impl sealed::Sealed for Md5 {}

impl Family for Md5 {
    type Word = u32;
    type State = Words<4>;
    type Block = Words<16>;
    const BIG_ENDIAN: bool = false;
    const PADDING: Padding = Padding::Length;
}

impl Compress for Md5 {
    /// A step waits for the one before it in each of its four operations.
    const SHORT_ROUNDS: bool = true;
    const STAGED: bool = true;

    #[inline(always)]
    fn compress<V: Vector<Word = u32>>(proof: V::Proof, state: &mut [V; 4], x: [V; 16], feed: impl Feed) {
        let [mut a, mut b, mut c, mut d] = *state;

        // RFC 1321, 3.4: a = b + ((a + f(b, c, d) + X[k] + T[i]) <<< s). The sum without f is ready before b is, and
        // is pinned: added in another order, the step before would be waited for once more.
        macro_rules! step {
            ($f:ident, $a:ident, $b:ident, $c:ident, $d:ident, $k:literal, $s:literal, $i:literal) => {
                feed.prefetch($i - 1, 64);
                feed.stage($i - 1, 64);
                let sum = $a.add(V::splat(proof, T[$i - 1]).add(x[$k])).pin();
                $a = $b.add($f($b, $c, $d, sum).rotate_left::<$s>());
            };
        }
        // The RFC's notation: [abcd k s i], four to a line.
        macro_rules! steps {
            ($f:ident: $([$k0:literal $s0:literal $i0:literal] [$k1:literal $s1:literal $i1:literal]
                         [$k2:literal $s2:literal $i2:literal] [$k3:literal $s3:literal $i3:literal])*) => {
                $(
                    step!($f, a, b, c, d, $k0, $s0, $i0);
                    step!($f, d, a, b, c, $k1, $s1, $i1);
                    step!($f, c, d, a, b, $k2, $s2, $i2);
                    step!($f, b, c, d, a, $k3, $s3, $i3);
                )*
            };
        }
        steps! { f:
            [ 0 7  1] [ 1 12  2] [ 2 17  3] [ 3 22  4]
            [ 4 7  5] [ 5 12  6] [ 6 17  7] [ 7 22  8]
            [ 8 7  9] [ 9 12 10] [10 17 11] [11 22 12]
            [12 7 13] [13 12 14] [14 17 15] [15 22 16]
        }
        steps! { g:
            [ 1 5 17] [ 6 9 18] [11 14 19] [ 0 20 20]
            [ 5 5 21] [10 9 22] [15 14 23] [ 4 20 24]
            [ 9 5 25] [14 9 26] [ 3 14 27] [ 8 20 28]
            [13 5 29] [ 2 9 30] [ 7 14 31] [12 20 32]
        }
        steps! { h:
            [ 5 4 33] [ 8 11 34] [11 16 35] [14 23 36]
            [ 1 4 37] [ 4 11 38] [ 7 16 39] [10 23 40]
            [13 4 41] [ 0 11 42] [ 3 16 43] [ 6 23 44]
            [ 9 4 45] [12 11 46] [15 16 47] [ 2 23 48]
        }
        steps! { i:
            [ 0 6 49] [ 7 10 50] [14 15 51] [ 5 21 52]
            [12 6 53] [ 3 10 54] [10 15 55] [ 1 21 56]
            [ 8 6 57] [15 10 58] [ 6 15 59] [13 21 60]
            [ 4 6 61] [11 10 62] [ 2 15 63] [ 9 21 64]
        }

        state[0] = state[0].add(a);
        state[1] = state[1].add(b);
        state[2] = state[2].add(c);
        state[3] = state[3].add(d);
    }
}

// RFC 1321, 3.4: the auxiliary functions, each added to the sum; `x` is the word that was computed last.
#[inline(always)]
fn f<V: Vector>(x: V, y: V, z: V, sum: V) -> V {
    sum.add(x.choose(y, z))
}
#[inline(always)]
fn g<V: Vector>(x: V, y: V, z: V, sum: V) -> V {
    x.choose_into(y, z, sum)
}
#[inline(always)]
fn h<V: Vector>(x: V, y: V, z: V, sum: V) -> V {
    sum.add(x.xor3(y, z))
}
#[inline(always)]
fn i<V: Vector>(x: V, y: V, z: V, sum: V) -> V {
    sum.add(x.or_not_xor(y, z))
}
