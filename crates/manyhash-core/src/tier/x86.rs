//! What the x86 tiers share: the operations spelled once, the names of an ISA's intrinsics filled in by its file.

use super::entries;
use super::portable::Portable;

/// Whether the CPU has every one of these features: at run time where the standard library can tell.
macro_rules! has {
    ($($feature:tt),*) => {{
        #[cfg(feature = "std")]
        let has = true $(&& std::arch::is_x86_feature_detected!($feature))*;
        #[cfg(not(feature = "std"))]
        let has = true $(&& cfg!(target_feature = $feature))*;
        has
    }};
}
pub(crate) use has;

/// Defines a register of lanes, words of either width, from the names of its intrinsics: for 32 bits, for 64 bits.
///
/// `rotate: native(rol, ror)` where the ISA rotates, `shifts` where it must shift both ways and join.
/// `ternary: name` where the ISA has any boolean function of three operands, `none` where it has not.
/// `blocks: parts` where the register is of 128-bit parts, `one` where it has a single lane.
macro_rules! register {
    (
        $(#[$doc:meta])* $name:ident: $lanes:expr, in $register:ident, proof $proof:ident,
        splat: ($splat_32:ident, $splat_64:ident), load: $load:tt, store: $store:tt,
        add: ($add_32:ident, $add_64:ident), xor: $xor:ident, and: $and:ident, or: $or:ident, and_not: $and_not:ident,
        shifts: ($sll_32:ident, $srl_32:ident, $sll_64:ident, $srl_64:ident), rotate: $rotate:ident $(($($names:ident),*))?,
        ternary: $ternary:ident, swap: ($swap_32:ident, $swap_64:ident), blocks: $blocks:ident,
        $(pad: $pad:ident,)? pin: $pin:ident,
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $name<W>($register, core::marker::PhantomData<W>);

        impl<W: crate::word::Word> $name<W> {
            #[inline(always)]
            fn of(register: $register) -> Self {
                Self(register, core::marker::PhantomData)
            }
        }

        // SAFETY, for the intrinsics below: a value of this type is only made from a `$proof`, and a `$proof` only
        // where the CPU has the instructions. Every x86-64 CPU can prefetch.
        #[allow(clippy::undocumented_unsafe_blocks, reason = "the comment above holds for every one of them")]
        impl<W: crate::word::Word> crate::vector::Vector for $name<W> {
            type Word = W;
            type Proof = $proof;
            const LANES: usize = if $lanes == 1 { 1 } else { size_of::<$register>() / W::BYTES };

            #[inline(always)]
            fn splat(_: $proof, word: W) -> Self {
                Self::of(unsafe {
                    crate::tier::x86::register!(
                        @by W;
                        $splat_32(word.to_u64() as u32 as i32),
                        $splat_64(word.to_u64() as i64)
                    )
                })
            }
            #[inline(always)]
            unsafe fn load(_: $proof, from: *const W) -> Self {
                // SAFETY: the intrinsic takes `LANES` words, which the caller has.
                Self::of(unsafe { crate::tier::x86::register!(@width $load W; (from.cast())) })
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut W) {
                // SAFETY: the intrinsic takes `LANES` words, which the caller has.
                unsafe { crate::tier::x86::register!(@width $store W; (to.cast(), self.0)) }
            }
            crate::tier::x86::register!(@blocks $blocks $proof);
            crate::tier::x86::register!(@pad $($pad)?);
            #[inline(always)]
            fn prefetch(line: *const u8) {
                unsafe { _mm_prefetch::<_MM_HINT_T0>(line.cast()) }
            }
            #[inline(always)]
            fn swap_bytes(self) -> Self {
                Self::of(unsafe { crate::tier::x86::register!(@by W; $swap_32(self.0), $swap_64(self.0)) })
            }
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                Self::of(unsafe {
                    crate::tier::x86::register!(@by W; $add_32(self.0, other.0), $add_64(self.0, other.0))
                })
            }
            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                Self::of(unsafe { $xor(self.0, other.0) })
            }
            #[inline(always)]
            fn and(self, other: Self) -> Self {
                Self::of(unsafe { $and(self.0, other.0) })
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                Self::of(unsafe { $or(self.0, other.0) })
            }
            #[inline(always)]
            fn and_not(self, other: Self) -> Self {
                Self::of(unsafe { $and_not(self.0, other.0) })
            }
            #[inline(always)]
            fn not(self) -> Self {
                self.xor(Self::of(unsafe { $splat_32(-1) }))
            }
            // The counts of shifts are constants, so that the compiler picks their immediate forms.
            #[inline(always)]
            fn shift_right<const N: i32>(self) -> Self {
                let count = unsafe { _mm_cvtsi32_si128(N) };
                Self::of(unsafe { crate::tier::x86::register!(@by W; $srl_32(self.0, count), $srl_64(self.0, count)) })
            }
            crate::tier::x86::register!(@rotate $rotate $(($($names),*))? ($sll_32, $srl_32, $sll_64, $srl_64, $or));
            crate::tier::x86::register!(@ternary $ternary);
            #[inline(always)]
            fn pin(self) -> Self {
                Self::of(unsafe { $pin(self.0) })
            }
        }
    };

    (@by $word:ident; $of_32:expr, $of_64:expr) => {
        if <$word as crate::word::Word>::BYTES == 4 { $of_32 } else { $of_64 }
    };
    (@width ($of_32:ident, $of_64:ident) $word:ident; $arguments:tt) => {
        if <$word as crate::word::Word>::BYTES == 4 { $of_32 $arguments } else { $of_64 $arguments }
    };
    (@width $of_both:ident $word:ident; $arguments:tt) => {
        $of_both $arguments
    };

    (@blocks $blocks:ident $proof:ident) => {
        #[inline(always)]
        unsafe fn load_block<B: crate::word::Shape>(
            proof: $proof,
            messages: *const &[u8],
            at: usize,
            bytes: usize,
            rest: &crate::word::Array<B, W>,
        ) -> crate::word::Array<B, Self> {
            // SAFETY: the caller's messages are readable from `at` for so many bytes.
            unsafe { crate::tier::x86::register!(@words $blocks)(proof, messages, at, bytes, rest) }
        }
        #[inline(always)]
        unsafe fn store_rows(state: &[Self; 8], words: usize, rows: *mut u8, apart: usize) {
            // SAFETY: the caller's rows.
            unsafe { crate::tier::x86::register!(@rows $blocks)(state, words, rows, apart) }
        }
    };
    (@words parts) => { crate::vector::parts::words::<Self, B> };
    (@words one) => { crate::vector::parts::words_one::<Self, B> };
    (@rows parts) => { crate::vector::parts::rows::<Self> };
    (@rows one) => { crate::vector::parts::rows_one::<Self> };

    (@rotate native($rol_32:ident, $ror_32:ident, $rol_64:ident, $ror_64:ident) $shifts:tt) => {
        #[inline(always)]
        fn rotate_left<const N: i32>(self) -> Self {
            Self::of(unsafe { crate::tier::x86::register!(@by W; $rol_32::<N>(self.0), $rol_64::<N>(self.0)) })
        }
        #[inline(always)]
        fn rotate_right<const N: i32>(self) -> Self {
            Self::of(unsafe { crate::tier::x86::register!(@by W; $ror_32::<N>(self.0), $ror_64::<N>(self.0)) })
        }
    };
    (@rotate shifts ($sll_32:ident, $srl_32:ident, $sll_64:ident, $srl_64:ident, $or:ident)) => {
        #[inline(always)]
        fn rotate_left<const N: i32>(self) -> Self {
            let (left, right) = unsafe { (_mm_cvtsi32_si128(N), _mm_cvtsi32_si128(8 * W::BYTES as i32 - N)) };
            Self::of(unsafe {
                crate::tier::x86::register!(
                    @by W;
                    $or($sll_32(self.0, left), $srl_32(self.0, right)),
                    $or($sll_64(self.0, left), $srl_64(self.0, right))
                )
            })
        }
        #[inline(always)]
        fn rotate_right<const N: i32>(self) -> Self {
            let (right, left) = unsafe { (_mm_cvtsi32_si128(N), _mm_cvtsi32_si128(8 * W::BYTES as i32 - N)) };
            Self::of(unsafe {
                crate::tier::x86::register!(
                    @by W;
                    $or($srl_32(self.0, right), $sll_32(self.0, left)),
                    $or($srl_64(self.0, right), $sll_64(self.0, left))
                )
            })
        }
    };

    (@pad) => {};
    (@pad $pad:ident) => {
        #[inline(always)]
        unsafe fn pad(_: Self::Proof, from: *const u8, left: i8, then: u8, line: *mut u8) {
            // SAFETY: the caller's bytes and line.
            unsafe { $pad(from, left, then, line) }
        }
    };

    (@ternary none) => {};
    (@ternary $ternary:ident) => {
        // The immediate is the function's truth table: bit `4 * self + 2 * a + b` is its value.
        #[inline(always)]
        fn choose(self, a: Self, b: Self) -> Self {
            Self::of(unsafe { $ternary::<0b11001010>(self.0, a.0, b.0) })
        }
        #[inline(always)]
        fn majority(self, a: Self, b: Self, _differ: &mut Self) -> Self {
            Self::of(unsafe { $ternary::<0b11101000>(self.0, a.0, b.0) })
        }
        #[inline(always)]
        fn choose_into(self, other: Self, mask: Self, sum: Self) -> Self {
            sum.add(mask.choose(self, other))
        }
        #[inline(always)]
        fn xor3(self, a: Self, b: Self) -> Self {
            Self::of(unsafe { $ternary::<0b10010110>(self.0, a.0, b.0) })
        }
        #[inline(always)]
        fn xor_and_not(self, a: Self, b: Self) -> Self {
            Self::of(unsafe { $ternary::<0b11010010>(self.0, a.0, b.0) })
        }
        #[inline(always)]
        fn or_not_xor(self, a: Self, b: Self) -> Self {
            Self::of(unsafe { $ternary::<0b00111001>(self.0, a.0, b.0) })
        }
    };
}
pub(super) use register;

/// Defines how a register is loaded and shuffled by its 128-bit parts: see [`Parts`](crate::vector::parts::Parts).
macro_rules! parts {
    ($name:ident: $load:ident, $store:ident, $low_32:ident, $high_32:ident, $low_64:ident, $high_64:ident) => {
        // SAFETY, for the intrinsics below: the vector or the proof at hand proves them.
        #[allow(clippy::undocumented_unsafe_blocks, reason = "the comment above holds for every one of them")]
        impl<W: crate::word::Word> crate::vector::parts::Parts for $name<W> {
            #[inline(always)]
            unsafe fn load_parts(_: Self::Proof, messages: *const &[u8], at: usize) -> Self {
                // SAFETY: the caller's messages, one a part, are readable for 16 bytes from `at`.
                Self::of(unsafe { $load(messages, crate::vector::parts::lanes_per_part::<W>(), at) })
            }
            #[inline(always)]
            unsafe fn store_parts(self, to: *mut u8, apart: usize) {
                // SAFETY: the caller's bytes.
                unsafe { $store(self.0, to, apart) }
            }
            #[inline(always)]
            fn unpack_low_32(self, other: Self) -> Self {
                Self::of(unsafe { $low_32(self.0, other.0) })
            }
            #[inline(always)]
            fn unpack_high_32(self, other: Self) -> Self {
                Self::of(unsafe { $high_32(self.0, other.0) })
            }
            #[inline(always)]
            fn unpack_low_64(self, other: Self) -> Self {
                Self::of(unsafe { $low_64(self.0, other.0) })
            }
            #[inline(always)]
            fn unpack_high_64(self, other: Self) -> Self {
                Self::of(unsafe { $high_64(self.0, other.0) })
            }
        }
    };
}
pub(super) use parts;

/// Defines `name(register) -> register`: an empty `asm!` that the value passes through.
///
/// The assembler sees nothing; the compiler sees a value that it cannot know before this point. Volatile (not
/// `pure`), so that pins keep their order among themselves.
macro_rules! pin {
    ($name:ident, $register:ident, $class:ident, $feature:literal) => {
        #[inline]
        #[target_feature(enable = $feature)]
        fn $name(mut register: $register) -> $register {
            // SAFETY: no instruction, no memory, no flags.
            unsafe {
                core::arch::asm!("/* {0} */", inout($class) register, options(nomem, nostack, preserves_flags));
            }
            register
        }
    };
}
pub(super) use pin;

/// What proves BMI1 and BMI2 too: the tiers from AVX2 on ask for both.
///
/// # Safety
/// Whoever makes one makes it where the CPU has them.
pub(crate) unsafe trait Bmi {}

/// Proof that the CPU has BMI1 and BMI2.
#[derive(Clone, Copy)]
pub(super) struct BmiProof(());

impl<T: Bmi> From<T> for BmiProof {
    fn from(_: T) -> Self {
        BmiProof(())
    }
}

entries!(#[target_feature(enable = "bmi1,bmi2")] pub(super) Scalar having BmiProof: Portable = Portable);
