//! Words, and how many of them states and blocks have.

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
    /// Bytes in a word.
    const BYTES: usize = size_of::<Self>();

    /// Writes the word to its [`BYTES`](Self::BYTES) bytes, most significant first where `big_endian` is set.
    ///
    /// # Panics
    /// If `bytes` has another length.
    fn write(self, big_endian: bool, bytes: &mut [u8]);

    /// Reads the word that [`write`](Self::write) writes.
    ///
    /// # Panics
    /// If `bytes` are not [`BYTES`](Self::BYTES).
    fn read(big_endian: bool, bytes: &[u8]) -> Self;

    /// The word with its bytes in the other order.
    fn swap_bytes(self) -> Self;

    /// Its value, whatever its width.
    fn to_u64(self) -> u64;

    /// The low bits of a value.
    fn from_low_bits(value: u64) -> Self;

    /// Sum modulo the word's width.
    fn wrapping_add(self, other: Self) -> Self;

    /// Rotates towards the most significant bit.
    fn rotate_left(self, bits: u32) -> Self;

    /// The same value, where the compiler cannot see how it came to be: see `Vector::pin`.
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
/// before this point. Volatile (not `pure`), so that pins keep their order among themselves. Interpreters have no assembler.
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

/// A number of things, as a type: what `[T; N]` is for one `T`, for any `T`.
pub trait Shape: sealed::Sealed + Copy + Debug + Send + Sync + 'static {
    /// So many of `T`: an array.
    type Of<T: Item>: Item + AsRef<[T]> + AsMut<[T]>;

    /// The number.
    const COUNT: usize;

    /// The same value so many times.
    fn filled<T: Item>(value: T) -> Self::Of<T>;
}

/// What arrays are made of here.
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
