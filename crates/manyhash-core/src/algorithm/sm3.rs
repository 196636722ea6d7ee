//! SM3, GB/T 32905-2016 (ISO/IEC 10118-3:2018, 17).

use crate::family::{Family, sealed};
use crate::padding::Padding;
use crate::vector::feed::Feed;
use crate::vector::{Compress, Vector};
use crate::word::Words;

/// The SM3 compression function: 8 words of 32 bits, blocks of 64 bytes, big-endian.
#[derive(Clone, Copy, Debug)]
pub struct Sm3;

/// GB/T 32905, 4.1.
pub(super) const INITIAL: [u32; 8] =
    [0x7380_166f, 0x4914_b2b9, 0x1724_42d7, 0xda8a_0600, 0xa96f_30bc, 0x1631_38aa, 0xe38d_ee4d, 0xb0fb_0e4e];

/// GB/T 32905, 4.2: the constants of the first 16 rounds and of the others, each rotated by the number of its round.
const T: [u32; 64] = {
    let mut t = [0; 64];
    let mut j = 0;
    while j < 64 {
        let constant: u32 = if j < 16 { 0x79cc_4519 } else { 0x7a87_9d8a };
        t[j] = constant.rotate_left(j as u32 % 32);
        j += 1;
    }
    t
};

/// Rounds in which the next block is staged.
const STAGING: usize = 48;

impl sealed::Sealed for Sm3 {}

impl Family for Sm3 {
    type Word = u32;
    type State = Words<8>;
    type Block = Words<16>;
    const BIG_ENDIAN: bool = true;
    const PADDING: Padding = Padding::Length;
}

impl Compress for Sm3 {
    const STAGED: bool = true;

    #[inline(always)]
    fn compress<V: Vector<Word = u32>>(proof: V::Proof, state: &mut [V; 8], mut w: [V; 16], feed: impl Feed) {
        feed.prefetch(0, 1);
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;

        // GB/T 32905, 5.3.2 and 5.3.3, with names that move instead of values. W(j) is in the window of 16 words, and W'(j),
        // which needs the word four on, is made in passing.
        macro_rules! round {
            ($j:expr, $ff:ident, $gg:ident, $a:ident, $b:ident, $c:ident, $d:ident, $e:ident, $f:ident, $g:ident, $h:ident) => {{
                let j: usize = $j;
                if j >= 12 {
                    // The word that W' needs, 16 on from the one in its place.
                    let t = j + 4;
                    let word = w[t % 16].xor3(w[(t + 7) % 16], w[(t + 13) % 16].rotate_left::<15>());
                    let p1 = word.xor3(word.rotate_left::<15>(), word.rotate_left::<23>());
                    w[t % 16] = p1.xor3(w[(t + 3) % 16].rotate_left::<7>(), w[(t + 10) % 16]);
                }
                if (12..12 + STAGING).contains(&j) {
                    feed.stage(j - 12, STAGING);
                }
                let a12 = $a.rotate_left::<12>();
                let ss1 = a12.add($e.add(V::splat(proof, T[j]))).rotate_left::<7>();
                let w4 = w[j % 16].xor(w[(j + 4) % 16]);
                let tt1 = $d.add(w4).pin().add($ff($a, $b, $c)).add(ss1.xor(a12));
                let tt2 = $h.add(w[j % 16]).pin().add($gg($e, $f, $g)).add(ss1);
                $b = $b.rotate_left::<9>();
                $d = tt1;
                $f = $f.rotate_left::<19>();
                $h = tt2.xor3(tt2.rotate_left::<9>(), tt2.rotate_left::<17>());
            }};
        }
        macro_rules! four_rounds {
            ($ff:ident $gg:ident: $($j:literal)*) => {
                $(
                    round!($j, $ff, $gg, a, b, c, d, e, f, g, h);
                    round!($j + 1, $ff, $gg, d, a, b, c, h, e, f, g);
                    round!($j + 2, $ff, $gg, c, d, a, b, g, h, e, f);
                    round!($j + 3, $ff, $gg, b, c, d, a, f, g, h, e);
                )*
            };
        }
        four_rounds!(parity parity: 0 4 8 12);
        four_rounds!(maj ch: 16 20 24 28 32 36 40 44 48 52 56 60);

        for (state, word) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *state = state.xor(word);
        }
    }
}

// GB/T 32905, 4.3.
#[inline(always)]
fn parity<V: Vector>(x: V, y: V, z: V) -> V {
    x.xor3(y, z)
}
#[inline(always)]
fn maj<V: Vector>(x: V, y: V, z: V) -> V {
    x.majority(y, z, &mut y.xor(z))
}
#[inline(always)]
fn ch<V: Vector>(x: V, y: V, z: V) -> V {
    x.choose(y, z)
}
