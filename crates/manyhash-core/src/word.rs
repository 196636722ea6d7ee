//! Words, and the number of words in states and blocks.

use core::fmt::Debug;
use core::ops::{BitAnd, BitOr, BitXor, Not, Shr};

/// A word of a hash state: `u32` or `u64`.
pub trait Word:
    Copy
    + Default
    + PartialEq
    + From<u32>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
    + Shr<u32, Output = Self>
    + Debug
    + Send
    + Sync
    + sealed::Sealed
    + 'static
{
    /// Number of bytes in a word.
    const BYTES: usize = size_of::<Self>();

    /// Writes the word to its [`BYTES`](Self::BYTES) bytes, most significant first where `big_endian` is set.
    ///
    /// # Panics
    /// Panics if the length of `bytes` is not [`BYTES`](Self::BYTES).
    fn write(self, big_endian: bool, bytes: &mut [u8]);

    /// Reads a word that was written by [`write`](Self::write).
    ///
    /// # Panics
    /// Panics if the length of `bytes` is not [`BYTES`](Self::BYTES).
    fn read(big_endian: bool, bytes: &[u8]) -> Self;

    /// Returns the word with its bytes reversed.
    fn swap_bytes(self) -> Self;

    /// Returns the word as a `u64`.
    fn to_u64(self) -> u64;

    /// Returns the low bits of a value as a word.
    fn from_low_bits(value: u64) -> Self;

    /// Returns the sum modulo 2 to the power of the word's width in bits.
    fn wrapping_add(self, other: Self) -> Self;

    /// Rotates towards the most significant bit.
    fn rotate_left(self, bits: u32) -> Self;

    /// Returns the same value, and hides from the compiler how it was computed: see `Vector::pin`.
    #[doc(hidden)]
    fn pin(self) -> Self;
}

macro_rules! word {
    ($($word:ident)*) => {
        $(
            impl sealed::Sealed for $word {}

            impl Word for $word {
                #[inline]
                fn write(self, big_endian: bool, bytes: &mut [u8]) {
                    bytes.copy_from_slice(&if big_endian { self.to_be_bytes() } else { self.to_le_bytes() });
                }
                #[inline]
                fn read(big_endian: bool, bytes: &[u8]) -> Self {
                    let bytes = bytes.try_into().expect("as many bytes as a word has");
                    if big_endian { $word::from_be_bytes(bytes) } else { $word::from_le_bytes(bytes) }
                }
                #[inline(always)]
                fn swap_bytes(self) -> Self {
                    $word::swap_bytes(self)
                }
                #[inline(always)]
                fn to_u64(self) -> u64 {
                    self.into()
                }
                #[inline(always)]
                fn from_low_bits(value: u64) -> Self {
                    value as $word
                }
                #[inline(always)]
                fn wrapping_add(self, other: Self) -> Self {
                    $word::wrapping_add(self, other)
                }
                #[inline(always)]
                fn rotate_left(self, bits: u32) -> Self {
                    $word::rotate_left(self, bits)
                }
                #[inline(always)]
                fn pin(self) -> Self {
                    pin!(self)
                }
            }
        )*
    };
}

/// An empty `asm!` that the value passes through: nothing for the assembler, and a value that the compiler cannot know
/// before this point. Volatile (not `pure`), so that pins keep their order among themselves. Interpreters have no
/// assembler.
#[cfg(all(not(miri), any(target_arch = "x86_64", target_arch = "aarch64")))]
macro_rules! pin {
    ($word:ident) => {{
        let mut word = $word;
        // SAFETY: no instruction, no memory, no flags.
        #[allow(asm_sub_register, reason = "no instruction names the register")]
        unsafe {
            core::arch::asm!("/* {0} */", inout(reg) word, options(nomem, nostack, preserves_flags));
        }
        word
    }};
}

#[cfg(not(all(not(miri), any(target_arch = "x86_64", target_arch = "aarch64"))))]
macro_rules! pin {
    ($word:ident) => {
        $word
    };
}

word!(u32 u64);

/// A number of elements, as a type: the `N` of `[T; N]`, for any `T`.
pub trait Shape: sealed::Sealed + Copy + Debug + Send + Sync + 'static {
    /// An array of that many `T`.
    type Of<T: Item>: Item + AsRef<[T]> + AsMut<[T]>;

    /// The number.
    const COUNT: usize;

    /// Returns an array filled with one value.
    fn filled<T: Item>(value: T) -> Self::Of<T>;
}

/// The element of an array of a [`Shape`].
pub trait Item: Copy + Debug + Send + Sync + 'static {}

impl<T: Copy + Debug + Send + Sync + 'static> Item for T {}

/// `N` words.
#[derive(Clone, Copy, Debug)]
pub struct Words<const N: usize>;

impl<const N: usize> sealed::Sealed for Words<N> {}

impl<const N: usize> Shape for Words<N> {
    type Of<T: Item> = [T; N];
    const COUNT: usize = N;

    #[inline(always)]
    fn filled<T: Item>(value: T) -> [T; N] {
        [value; N]
    }
}

/// An array of a [`Shape`].
pub type Array<S, T> = <S as Shape>::Of<T>;

mod sealed {
    pub trait Sealed {}
}
