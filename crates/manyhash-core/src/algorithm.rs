//! Compression functions written once over a vector trait, and the table of the algorithms that standards define with
//! them.
//!
//! A new algorithm of a known shape takes a file, a line in each of the two tables below, and its test vectors. Names,
//! parsing, initial states, typed hashers, plans and the bindings' names follow.

#[cfg(target_arch = "aarch64")]
mod arm_sha;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod dedicated;
mod keccak;
mod md5;
mod ripemd160;
mod sha1;
mod sha2;
mod sha256;
mod sha512;
mod sm3;
#[cfg(target_arch = "x86_64")]
mod x86_sha;

pub use keccak::{Keccak, Keccak256, Sha3_224, Sha3_256, Sha3_384, Sha3_512};
pub use md5::Md5;
pub use ripemd160::Ripemd160;
pub use sha1::Sha1;
pub use sha256::Sha256;
pub use sha512::Sha512;
pub use sm3::Sm3;

pub(crate) use keccak::RC as KECCAK_RC;
pub(crate) use md5::T as MD5_T;
pub(crate) use sha1::K as SHA1_K;
pub(crate) use sha256::K as SHA256_K;
pub(crate) use sha512::K as SHA512_K;

use crate::family::{Family, State};
use crate::kernel::KernelSet;
use crate::tier::Backend;
use crate::word::Word;

/// `algorithms!(then args)`: `then! { args ... }` with the table of algorithms.
///
/// Each is a name as a type and as a function, its family, the bytes of its digest, its initial state, its names, and
/// what it is.
#[doc(hidden)]
#[macro_export]
macro_rules! algorithms {
    ($then:ident $($arguments:tt)*) => {
        $then! {
            $($arguments)*
            Md5 md5: Md5, 16, md5::INITIAL, ["md5", "md-5"],
                "MD5, RFC 1321. Broken for signatures; prescribed by S3's ETag and many manifests.";
            Sha1 sha1: Sha1, 20, sha1::INITIAL, ["sha1", "sha-1"],
                "SHA-1, FIPS 180-4. Broken for signatures; prescribed by Git and BitTorrent.";
            Sha224 sha224: Sha256, 28, sha256::INITIAL_224, ["sha224", "sha-224", "sha2-224"], "SHA-224, FIPS 180-4.";
            Sha256 sha256: Sha256, 32, sha256::INITIAL_256, ["sha256", "sha-256", "sha2-256"], "SHA-256, FIPS 180-4.";
            Sha384 sha384: Sha512, 48, sha512::INITIAL_384, ["sha384", "sha-384", "sha2-384"], "SHA-384, FIPS 180-4.";
            Sha512 sha512: Sha512, 64, sha512::INITIAL_512, ["sha512", "sha-512", "sha2-512"], "SHA-512, FIPS 180-4.";
            Sha512_256 sha512_256: Sha512, 32, sha512::INITIAL_512_256,
                ["sha512-256", "sha512/256", "sha512_256", "sha-512-256", "sha-512/256", "sha2-512-256", "sha2-512/256"],
                "SHA-512/256, FIPS 180-4.";
            Sha3_224 sha3_224: Sha3_224, 28, keccak::INITIAL, ["sha3-224", "sha3_224"], "SHA3-224, FIPS 202.";
            Sha3_256 sha3_256: Sha3_256, 32, keccak::INITIAL, ["sha3-256", "sha3_256"], "SHA3-256, FIPS 202.";
            Sha3_384 sha3_384: Sha3_384, 48, keccak::INITIAL, ["sha3-384", "sha3_384"], "SHA3-384, FIPS 202.";
            Sha3_512 sha3_512: Sha3_512, 64, keccak::INITIAL, ["sha3-512", "sha3_512"], "SHA3-512, FIPS 202.";
            Keccak256 keccak256: Keccak256, 32, keccak::INITIAL, ["keccak256", "keccak-256"],
                "Keccak-256 as used by Ethereum: SHA3-256 with the padding of Keccak's submission to NIST.";
            Sm3 sm3: Sm3, 32, sm3::INITIAL, ["sm3"], "SM3, GB/T 32905-2016.";
            Ripemd160 ripemd160: Ripemd160, 20, ripemd160::INITIAL, ["ripemd160", "rmd160", "ripemd-160"],
                "RIPEMD-160, ISO/IEC 10118-3. Prescribed by Bitcoin's addresses.";
        }
    };
}

/// `families!(then args)`: `then! { args ... }` with the names of all families, and the files of kernels with dedicated
/// instructions.
#[doc(hidden)]
#[macro_export]
macro_rules! families {
    ($then:ident $($arguments:tt)*) => {
        $then! {
            $($arguments)*
            Md5;
            Sha1 "x86_64" sha1::x86_sha "aarch64" sha1::arm_sha;
            Sha256 "x86_64" sha256::x86_sha "aarch64" sha256::arm_sha;
            Sha512 "x86_64" sha512::x86_schedule "aarch64" sha512::arm_sha;
            Sha3_224 "aarch64" keccak::arm_sha;
            Sha3_256 "aarch64" keccak::arm_sha;
            Sha3_384 "aarch64" keccak::arm_sha;
            Sha3_512 "aarch64" keccak::arm_sha;
            Keccak256 "aarch64" keccak::arm_sha;
            Sm3;
            Ripemd160;
        }
    };
}

/// A family with kernels.
pub trait Kernels: Family {
    /// Returns the kernels that `backend` has for the family, including those with the family's dedicated instructions.
    fn kernels(backend: Backend) -> KernelSet<Self>;
}

macro_rules! define_families {
    ($($family:ident $($arch:literal $module:ident::$file:ident)*;)*) => {
        $(
            impl Kernels for $family {
                fn kernels(backend: Backend) -> KernelSet<Self> {
                    #[allow(unused_mut, reason = "some have no kernels of their own on this target")]
                    let mut set = backend.kernels();
                    $(
                        #[cfg(target_arch = $arch)]
                        $module::$file::add_kernels(backend, &mut set);
                    )*
                    set
                }
            }
        )*

        /// An algorithm's family, with its initial state.
        #[derive(Clone, Copy, Debug)]
        pub enum Start {
            $(
                #[doc = concat!("The family [`", stringify!($family), "`](type@", stringify!($family), ").")]
                $family(&'static State<$family>),
            )*
        }
    };
}

families!(define_families);

macro_rules! define_algorithms {
    ($(
        $name:ident $function:ident: $family:ident, $bytes:literal, $module:ident::$start:ident, [$($spelling:literal),*],
            $about:literal;
    )*) => {
        /// A hash algorithm.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        #[non_exhaustive]
        pub enum Algorithm {
            $(#[doc = $about] $name,)*
        }

        impl Algorithm {
            /// Every algorithm.
            pub const ALL: &[Algorithm] = &[$(Self::$name),*];

            /// What it is called: its name first, then the standard's and OpenSSL 3's.
            const fn spellings(self) -> &'static [&'static str] {
                match self {
                    $(Self::$name => &[$($spelling),*],)*
                }
            }

            /// Returns the name as an identifier, as Python's hashlib spells it: `sha256`, `sha512_256`.
            pub const fn identifier(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($function),)*
                }
            }

            /// Returns the number of bytes in a digest.
            pub const fn digest_bytes(self) -> usize {
                match self {
                    $(Self::$name => $bytes,)*
                }
            }

            /// Returns the number of bytes in a block.
            pub const fn block_bytes(self) -> usize {
                match self {
                    $(Self::$name => <$family as Family>::BLOCK_BYTES,)*
                }
            }

            /// Returns whether a digest is shorter than the family's state.
            pub const fn is_truncated(self) -> bool {
                match self {
                    $(Self::$name => $bytes < <$family as Family>::STATE_WORDS * <<$family as Family>::Word as Word>::BYTES,)*
                }
            }

            /// Returns the family and the initial state.
            pub const fn start(self) -> Start {
                match self {
                    $(Self::$name => Start::$family(&$module::$start),)*
                }
            }
        }
    };
}

algorithms!(define_algorithms);

impl Algorithm {
    /// Returns the name, as coreutils and OpenSSL spell it: `sha256`, `sha512-256`.
    pub const fn name(self) -> &'static str {
        self.spellings()[0]
    }
}

impl core::fmt::Display for Algorithm {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad(self.name())
    }
}

/// The name does not belong to any [`Algorithm`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnknownAlgorithmError;

impl core::fmt::Display for UnknownAlgorithmError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("unknown algorithm; expected one of")?;
        for (i, algorithm) in Algorithm::ALL.iter().enumerate() {
            write!(f, "{} {algorithm}", if i == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl core::error::Error for UnknownAlgorithmError {}

impl core::str::FromStr for Algorithm {
    type Err = UnknownAlgorithmError;

    /// Parses the common spellings, in either case: `sha256`, `SHA-256`, `SHA2-256`, `sha512/256`.
    fn from_str(name: &str) -> Result<Self, UnknownAlgorithmError> {
        let spelled =
            |algorithm: &&Algorithm| algorithm.spellings().iter().any(|known| known.eq_ignore_ascii_case(name));
        Self::ALL.iter().find(spelled).copied().ok_or(UnknownAlgorithmError)
    }
}
