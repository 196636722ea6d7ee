//! RustCrypto's traits, for code that takes `D: digest::Digest`.
//!
//! `digest::Digest` and `digest::DynDigest` follow from these. The traits of its `block_api` do not fit: they hand out
//! the compression function with one block buffer, and the choice of kernel stays behind a plan here. So HMAC is
//! `hmac::SimpleHmac`, not `hmac::Hmac`.

use super::{Md5, Sha1, Sha224, Sha256, Sha384, Sha512, Sha512_256};
use ::digest::common::BlockSizeUser;
use ::digest::consts::{U16, U20, U28, U32, U48, U64, U128};
use ::digest::typenum::Unsigned;
use ::digest::{FixedOutput, FixedOutputReset, HashMarker, Output, OutputSizeUser, Reset, Update};

macro_rules! rustcrypto {
    ($($name:ident: $output:ident, $block:ident;)*) => {
        $(
            impl HashMarker for $name {}

            impl OutputSizeUser for $name {
                type OutputSize = $output;
            }

            impl BlockSizeUser for $name {
                type BlockSize = $block;
            }

            const _: () = assert!($block::USIZE == $name::ALGORITHM.block_bytes());

            impl Update for $name {
                fn update(&mut self, data: &[u8]) {
                    self.update(data);
                }
            }

            impl Reset for $name {
                fn reset(&mut self) {
                    self.reset();
                }
            }

            impl FixedOutput for $name {
                fn finalize_into(self, out: &mut Output<Self>) {
                    *out = self.finalize().into();
                }
            }

            impl FixedOutputReset for $name {
                fn finalize_into_reset(&mut self, out: &mut Output<Self>) {
                    *out = std::mem::take(self).finalize().into();
                }
            }
        )*
    };
}

rustcrypto! {
    Md5: U16, U64;
    Sha1: U20, U64;
    Sha224: U28, U64;
    Sha256: U32, U64;
    Sha384: U48, U128;
    Sha512: U64, U128;
    Sha512_256: U32, U128;
}
