//! SHA-512's rounds for one message in general registers.
//!
//! Written in assembly, for its registers and its order. A round has eight working variables, three intermediate values
//! and one that it hands to the next: with two addresses, all the registers that there are. Compilers spill some and put
//! a schedule's vector operations between the rounds' own as they like, which takes a fifth longer.

use super::Sha512;
use super::x86_schedule::Rounds;
use crate::family::State;
use crate::tier::x86::Bmi;
use core::arch::asm;

/// The state before the block, and the working variables `a` to `h`.
pub(crate) struct General {
    state: State<Sha512>,
    working: [u64; 8],
    /// `b ^ c`, which the round before had as its `a ^ b`.
    differ: u64,
}

impl General {
    #[inline(always)]
    fn start(state: State<Sha512>) -> Self {
        General { state, working: state, differ: state[1] ^ state[2] }
    }
}

impl<Proof: Bmi> Rounds<Proof> for General {
    #[inline(always)]
    fn new(_: Proof, state: &State<Sha512>) -> Self {
        Self::start(*state)
    }

    #[inline(always)]
    fn round(&mut self, kw: &u64) {
        let [a, b, c, mut d, e, f, g, h] = self.working;
        let mut h = h.wrapping_add(*kw);
        // FIPS 180-4, 4.1.3: S1 in `t0`, Ch as the sum of its two halves, which have no bit in common; T1 in `h`. Then S0
        // in `t0`, and Maj as `((a ^ b) & (b ^ c)) ^ b`.
        // SAFETY: registers alone, with instructions of BMI1 and BMI2, which the `Proof` that this was made from proves.
        unsafe {
            asm!(
                "rorx {t0}, {e}, 41",
                "rorx {t1}, {e}, 18",
                "andn {x}, {e}, {g}",
                "xor {t0}, {t1}",
                "rorx {t1}, {e}, 14",
                "add {h}, {x}",
                "mov {x}, {f}",
                "and {x}, {e}",
                "xor {t0}, {t1}",
                "add {h}, {x}",
                "rorx {t1}, {a}, 39",
                "add {h}, {t0}",
                "mov {x}, {a}",
                "rorx {t0}, {a}, 34",
                "add {d}, {h}",
                "xor {x}, {b}",
                "and {maj}, {x}",
                "xor {t0}, {t1}",
                "rorx {t1}, {a}, 28",
                "xor {maj}, {b}",
                "xor {t0}, {t1}",
                "add {h}, {maj}",
                "add {h}, {t0}",
                a = in(reg) a,
                b = in(reg) b,
                d = inout(reg) d,
                e = in(reg) e,
                f = in(reg) f,
                g = in(reg) g,
                h = inout(reg) h,
                maj = inout(reg) self.differ => _,
                x = out(reg) self.differ,
                t0 = out(reg) _,
                t1 = out(reg) _,
                options(nomem, nostack)
            );
        }
        self.working = [h, a, b, c, d, e, f, g];
    }

    #[inline(always)]
    fn end_block(&mut self) {
        *self = Self::start(core::array::from_fn(|i| self.state[i].wrapping_add(self.working[i])));
    }

    #[inline(always)]
    fn state(&self) -> State<Sha512> {
        self.state
    }
}
