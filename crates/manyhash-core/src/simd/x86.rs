//! What the x86 backends share: the operations spelled once, the names of an ISA's intrinsics filled in by its file;
//! and blocks of several messages turned into words of several lanes.

use super::{BLOCK_WORDS, PART, Vector, Word};

/// Defines one register's worth of lanes from the names of its intrinsics.
///
/// `rotate: native(rol, ror)` where the ISA rotates, `shifts` where it must shift both ways and join.
/// `ternary: name` where the ISA has any boolean function of three operands, `none` where it has not.
macro_rules! vector {
    (
        $(#[$doc:meta])* $name:ident: $lanes:literal x $word:ident in $register:ident, proof $proof:ident,
        splat: $splat:ident as $signed:ident, load: $load:ident, store: $store:ident,
        add: $add:ident, xor: $xor:ident, and: $and:ident, or: $or:ident, and_not: $and_not:ident,
        shifts: ($sll:ident, $srl:ident), rotate: $rotate:ident $(($rol:ident, $ror:ident))?, ternary: $ternary:ident,
        swap: $swap:ident, transpose: $transpose:ident, rows: $rows:ident, $(pad: $pad:ident,)? pin: $pin:ident,
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(crate) struct $name($register);

        // SAFETY, for the intrinsics below: a value of this type is only made from a `$proof`, and a `$proof` only
        // where the CPU has the instructions. Every x86-64 CPU can prefetch.
        #[allow(clippy::undocumented_unsafe_blocks, reason = "the comment above holds for every one of them")]
        impl Vector for $name {
            type Word = $word;
            type Proof = $proof;
            const LANES: usize = $lanes;

            #[inline(always)]
            fn splat(_: $proof, word: $word) -> Self {
                Self(unsafe { $splat(word as $signed) })
            }
            #[inline(always)]
            unsafe fn load(_: $proof, from: *const $word) -> Self {
                // SAFETY: the intrinsic takes `LANES` words, which the caller has.
                Self(unsafe { $load(from.cast()) })
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $word) {
                // SAFETY: the intrinsic takes `LANES` words, which the caller has.
                unsafe { $store(to.cast(), self.0) }
            }
            #[inline(always)]
            unsafe fn load_block(
                proof: $proof,
                messages: *const &[u8],
                at: usize,
                bytes: usize,
                rest: &[$word; BLOCK_WORDS],
            ) -> [Self; BLOCK_WORDS] {
                // SAFETY: the caller's messages are readable from `at` for so many bytes.
                unsafe { crate::simd::x86::$transpose::<Self>(proof, messages, at, bytes, rest) }
            }
            #[inline(always)]
            unsafe fn store_rows(state: &[Self; 8], words: usize, rows: *mut u8, apart: usize) {
                // SAFETY: the caller's rows.
                unsafe { crate::simd::x86::$rows::<Self>(state, words, rows, apart) }
            }
            crate::simd::x86::vector!(@pad $($pad)?);
            #[inline(always)]
            fn prefetch(line: *const u8) {
                unsafe { _mm_prefetch::<_MM_HINT_T0>(line.cast()) }
            }
            #[inline(always)]
            fn swap_bytes(self) -> Self {
                Self(unsafe { $swap(self.0) })
            }
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                Self(unsafe { $add(self.0, other.0) })
            }
            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                Self(unsafe { $xor(self.0, other.0) })
            }
            #[inline(always)]
            fn and(self, other: Self) -> Self {
                Self(unsafe { $and(self.0, other.0) })
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                Self(unsafe { $or(self.0, other.0) })
            }
            #[inline(always)]
            fn and_not(self, other: Self) -> Self {
                Self(unsafe { $and_not(self.0, other.0) })
            }
            #[inline(always)]
            fn not(self) -> Self {
                self.xor(Self(unsafe { $splat(-1) }))
            }
            #[inline(always)]
            fn shift_right<const N: i32>(self) -> Self {
                Self(unsafe { $srl(self.0, _mm_cvtsi32_si128(N)) })
            }
            crate::simd::x86::vector!(@rotate $rotate $(($rol, $ror))? ($sll, $srl, $or, $word));
            crate::simd::x86::vector!(@ternary $ternary);
            #[inline(always)]
            fn pin(self) -> Self {
                Self(unsafe { $pin(self.0) })
            }
        }
    };

    (@rotate native($rol:ident, $ror:ident) $shifts:tt) => {
        #[inline(always)]
        fn rotate_left<const N: i32>(self) -> Self {
            Self(unsafe { $rol::<N>(self.0) })
        }
        #[inline(always)]
        fn rotate_right<const N: i32>(self) -> Self {
            Self(unsafe { $ror::<N>(self.0) })
        }
    };
    (@rotate shifts ($sll:ident, $srl:ident, $or:ident, $word:ident)) => {
        // The counts are constants, so that the compiler picks the immediate form of each shift.
        #[inline(always)]
        fn rotate_left<const N: i32>(self) -> Self {
            Self(unsafe {
                $or(
                    $sll(self.0, _mm_cvtsi32_si128(N)),
                    $srl(self.0, _mm_cvtsi32_si128($word::BITS as i32 - N)),
                )
            })
        }
        #[inline(always)]
        fn rotate_right<const N: i32>(self) -> Self {
            Self(unsafe {
                $or(
                    $srl(self.0, _mm_cvtsi32_si128(N)),
                    $sll(self.0, _mm_cvtsi32_si128($word::BITS as i32 - N)),
                )
            })
        }
    };

    (@pad) => {};
    (@pad $pad:ident) => {
        #[inline(always)]
        unsafe fn pad(_: Self::Proof, from: *const u8, left: i8, line: *mut u8) {
            // SAFETY: the caller's bytes and line.
            unsafe { $pad(from, left, line) }
        }
    };

    (@ternary none) => {};
    (@ternary $ternary:ident) => {
        // The immediate is the function's truth table: bit `4 * self + 2 * a + b` is its value.
        #[inline(always)]
        fn choose(self, a: Self, b: Self) -> Self {
            Self(unsafe { $ternary::<0b11001010>(self.0, a.0, b.0) })
        }
        #[inline(always)]
        fn majority(self, a: Self, b: Self, _differ: &mut Self) -> Self {
            Self(unsafe { $ternary::<0b11101000>(self.0, a.0, b.0) })
        }
        #[inline(always)]
        fn choose_into(self, other: Self, mask: Self, sum: Self) -> Self {
            sum.add(mask.choose(self, other))
        }
        #[inline(always)]
        fn xor3(self, a: Self, b: Self) -> Self {
            Self(unsafe { $ternary::<0b10010110>(self.0, a.0, b.0) })
        }
        #[inline(always)]
        fn or_not_xor(self, a: Self, b: Self) -> Self {
            Self(unsafe { $ternary::<0b00111001>(self.0, a.0, b.0) })
        }
    };
}
pub(super) use vector;

/// Defines how a register is loaded and shuffled by its 128-bit parts: see [`Parts`].
macro_rules! parts {
    ($name:ident: $load_parts:ident, $store_parts:ident, $low_32:ident, $high_32:ident, $low_64:ident, $high_64:ident) => {
        // SAFETY, for the intrinsics below: the vector or the proof at hand proves them.
        #[allow(clippy::undocumented_unsafe_blocks, reason = "the comment above holds for every one of them")]
        impl crate::simd::x86::Parts for $name {
            #[inline(always)]
            unsafe fn load_parts(_: Self::Proof, messages: *const &[u8], at: usize) -> Self {
                // SAFETY: the caller's messages, one a part, are readable for 16 bytes from `at`.
                Self(unsafe {
                    $load_parts::<{ crate::simd::x86::lanes_per_part::<<Self as Vector>::Word>() }>(messages, at)
                })
            }
            #[inline(always)]
            unsafe fn store_parts(self, to: *mut u8, apart: usize) {
                // SAFETY: the caller's bytes.
                unsafe { $store_parts(self.0, to, apart) }
            }
            #[inline(always)]
            fn unpack_low_32(self, other: Self) -> Self {
                Self(unsafe { $low_32(self.0, other.0) })
            }
            #[inline(always)]
            fn unpack_high_32(self, other: Self) -> Self {
                Self(unsafe { $high_32(self.0, other.0) })
            }
            #[inline(always)]
            fn unpack_low_64(self, other: Self) -> Self {
                Self(unsafe { $low_64(self.0, other.0) })
            }
            #[inline(always)]
            fn unpack_high_64(self, other: Self) -> Self {
                Self(unsafe { $high_64(self.0, other.0) })
            }
        }
    };
}
pub(super) use parts;

/// Defines how a register's rows are staged, from `even(a, b)` and `odd(a, b)`: those words of each 128-bit part of `a`,
/// then of `b`.
macro_rules! stage {
    ($name:ident: $even:expr, $odd:expr) => {
        impl crate::simd::feed::Stage for $name {
            #[inline(always)]
            fn slot(lane: usize) -> usize {
                // Each part's lanes come half from the first register and half from the second.
                let half = crate::simd::x86::lanes_per_part::<<Self as Vector>::Word>() / 2;
                let (register, part) = (lane / half % 2, lane / half / 2);
                register * (Self::LANES / 2) + part * half + lane % half
            }

            #[inline(always)]
            unsafe fn load_pairs(proof: Self::Proof, from: *const Self::Word) -> (Self, Self) {
                // SAFETY: the caller's words fill two registers; the proof is that of the intrinsics.
                unsafe {
                    let (a, b) = (Self::load(proof, from).0, Self::load(proof, from.add(Self::LANES)).0);
                    (Self($even(a, b)), Self($odd(a, b)))
                }
            }

            #[inline(always)]
            unsafe fn shuffle_pairs(
                proof: Self::Proof,
                messages: *const &[u8],
                at: usize,
                rows: *mut Self::Word,
                stride: usize,
            ) {
                // SAFETY: the caller's messages and rows.
                unsafe { crate::simd::x86::shuffle_pairs::<Self>(proof, messages, at, rows, stride) }
            }
        }
    };
}
pub(super) use stage;

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

/// Loads and shuffles that work on each 128-bit part of a register alone.
///
/// A register of `P` parts takes 16 bytes of `P` messages that stand 4 (32-bit words) or 2 (64-bit words) apart, so
/// that transposing inside each part leaves the lanes in their natural order: inserts from memory, which are cheap,
/// replace the shuffles across parts, which are not.
pub(crate) trait Parts: Vector {
    /// 16 bytes from `at` of every [`lanes_per_part`]-th message, one a part.
    ///
    /// # Safety
    /// Each of those messages is readable for 16 bytes from `at`.
    unsafe fn load_parts(proof: Self::Proof, messages: *const &[u8], at: usize) -> Self;
    /// Stores each part, so many bytes apart.
    ///
    /// # Safety
    /// 16 bytes are writable for each part.
    unsafe fn store_parts(self, to: *mut u8, apart: usize);
    fn unpack_low_32(self, other: Self) -> Self;
    fn unpack_high_32(self, other: Self) -> Self;
    fn unpack_low_64(self, other: Self) -> Self;
    fn unpack_high_64(self, other: Self) -> Self;

    /// The upper 64 bits of each part of `self`, then the lower 64 bits of `next`'s.
    #[inline(always)]
    fn straddle_64(self, next: Self) -> Self {
        self.unpack_high_64(self).unpack_low_64(next)
    }
}

/// Lanes in a 128-bit part.
pub(super) const fn lanes_per_part<W: Word>() -> usize {
    16 / W::BYTES
}

/// Words of 32 bits as [`Vector::load_block`] has them.
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn words_32<V: Parts>(
    proof: V::Proof,
    messages: *const &[u8],
    at: usize,
    bytes: usize,
    rest: &[V::Word; BLOCK_WORDS],
) -> [V; BLOCK_WORDS] {
    let mut words = [V::splat(proof, V::Word::default()); BLOCK_WORDS];
    for (quarter, words) in words.chunks_exact_mut(4).enumerate() {
        if 16 * quarter >= bytes {
            for (i, word) in words.iter_mut().enumerate() {
                *word = V::splat(proof, rest[4 * quarter + i]);
            }
            continue;
        }
        // SAFETY: the part is among the caller's bytes, a multiple of 16.
        let [a, b, c, d] = unsafe {
            [
                V::load_parts(proof, messages, at + 16 * quarter),
                V::load_parts(proof, messages.add(1), at + 16 * quarter),
                V::load_parts(proof, messages.add(2), at + 16 * quarter),
                V::load_parts(proof, messages.add(3), at + 16 * quarter),
            ]
        };
        let (ab_low, ab_high) = (a.unpack_low_32(b), a.unpack_high_32(b));
        let (cd_low, cd_high) = (c.unpack_low_32(d), c.unpack_high_32(d));
        words[0] = ab_low.unpack_low_64(cd_low);
        words[1] = ab_low.unpack_high_64(cd_low);
        words[2] = ab_high.unpack_low_64(cd_high);
        words[3] = ab_high.unpack_high_64(cd_high);
    }
    words
}

/// Words of 64 bits as [`Vector::load_block`] has them.
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn words_64<V: Parts>(
    proof: V::Proof,
    messages: *const &[u8],
    at: usize,
    bytes: usize,
    rest: &[V::Word; BLOCK_WORDS],
) -> [V; BLOCK_WORDS] {
    let mut words = [V::splat(proof, V::Word::default()); BLOCK_WORDS];
    for (eighth, words) in words.chunks_exact_mut(2).enumerate() {
        if 16 * eighth >= bytes {
            for (i, word) in words.iter_mut().enumerate() {
                *word = V::splat(proof, rest[2 * eighth + i]);
            }
            continue;
        }
        // SAFETY: the part is among the caller's bytes, a multiple of 16.
        let (a, b) = unsafe {
            (V::load_parts(proof, messages, at + 16 * eighth), V::load_parts(proof, messages.add(1), at + 16 * eighth))
        };
        words[0] = a.unpack_low_64(b);
        words[1] = a.unpack_high_64(b);
    }
    words
}

/// The 8 pairs of words that start at `at` in each of `LANES` messages: of each 128-bit part, the first half of the lanes
/// in one register and the second half in the next.
///
/// # Safety
/// `messages` points to `LANES` slices, each readable for 16 words from `at`, and `rows` to 8 rows, each of two registers,
/// `stride` words apart.
#[inline(always)]
pub(super) unsafe fn shuffle_pairs<V: Parts>(
    proof: V::Proof,
    messages: *const &[u8],
    at: usize,
    rows: *mut V::Word,
    stride: usize,
) {
    for half in 0..2 {
        // SAFETY: every message is readable for 16 words; the rows are the caller's.
        unsafe {
            let row = |i: usize| rows.add(i * stride + half * V::LANES);
            if V::Word::BYTES == 4 {
                // 16 bytes are two pairs.
                for i in (0..BLOCK_WORDS / 2).step_by(2) {
                    let a = V::load_parts(proof, messages.add(2 * half), at + 8 * i);
                    let b = V::load_parts(proof, messages.add(2 * half + 1), at + 8 * i);
                    a.unpack_low_64(b).store(row(i));
                    a.unpack_high_64(b).store(row(i + 1));
                }
            } else {
                for i in 0..BLOCK_WORDS / 2 {
                    V::load_parts(proof, messages.add(half), at + 16 * i).store(row(i));
                }
            }
        }
    }
}

/// Words of 32 bits as [`Vector::store_rows`] wants them.
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn rows_32<V: Parts>(state: &[V; 8], words: usize, rows: *mut u8, apart: usize) {
    for quarter in 0..words.div_ceil(4) {
        let [a, b, c, d] = [state[4 * quarter], state[4 * quarter + 1], state[4 * quarter + 2], state[4 * quarter + 3]];
        let (ab_low, ab_high) = (a.unpack_low_32(b), a.unpack_high_32(b));
        let (cd_low, cd_high) = (c.unpack_low_32(d), c.unpack_high_32(d));
        let lanes = [
            ab_low.unpack_low_64(cd_low),
            ab_low.unpack_high_64(cd_low),
            ab_high.unpack_low_64(cd_high),
            ab_high.unpack_high_64(cd_high),
        ];
        for (i, lanes) in lanes.into_iter().enumerate() {
            // SAFETY: the caller's rows, every fourth of which is one of these.
            unsafe { lanes.store_parts(rows.add(i * apart + 16 * quarter), 4 * apart) };
        }
    }
}

/// Words of 64 bits as [`Vector::store_rows`] wants them.
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn rows_64<V: Parts>(state: &[V; 8], words: usize, rows: *mut u8, apart: usize) {
    for pair in 0..words.div_ceil(2) {
        let (a, b) = (state[2 * pair], state[2 * pair + 1]);
        for (i, lanes) in [a.unpack_low_64(b), a.unpack_high_64(b)].into_iter().enumerate() {
            // SAFETY: the caller's rows, every second of which is one of these.
            unsafe { lanes.store_parts(rows.add(i * apart + 16 * pair), 2 * apart) };
        }
    }
}

/// One lane's words as [`Vector::store_rows`] wants them.
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn rows_one<V: Vector>(state: &[V; 8], words: usize, row: *mut u8, _apart: usize) {
    for (i, state) in state.iter().enumerate().take(words.next_multiple_of(PART / V::Word::BYTES)) {
        // SAFETY: the row has room for the words.
        unsafe { state.store(row.add(i * V::Word::BYTES).cast()) };
    }
}

/// Words of one message as [`Vector::load_block`] has them, each in a vector of one lane.
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn words_one<V: Vector>(
    proof: V::Proof,
    messages: *const &[u8],
    at: usize,
    bytes: usize,
    rest: &[V::Word; BLOCK_WORDS],
) -> [V; BLOCK_WORDS] {
    let mut words = [V::splat(proof, V::Word::default()); BLOCK_WORDS];
    for (i, word) in words.iter_mut().enumerate() {
        if i * V::Word::BYTES >= bytes {
            *word = V::splat(proof, rest[i]);
            continue;
        }
        // SAFETY: the word is among the caller's bytes.
        *word = unsafe { V::load(proof, (*messages).as_ptr().add(at + i * V::Word::BYTES).cast()) };
    }
    words
}
