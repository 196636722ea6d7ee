//! RustCrypto's traits, for code that takes `D: digest::Digest`.
//!
//! `digest::Digest` and `digest::DynDigest` follow from these. The traits of its `block_api` do not fit: they hand out
//! the compression function with one block buffer, and the choice of kernel stays behind a plan here. So HMAC is
//! `hmac::SimpleHmac`, not `hmac::Hmac`.

use ::digest::array::AssocArraySize;
use ::digest::common::BlockSizeUser;
use ::digest::{FixedOutput, FixedOutputReset, HashMarker, Output, OutputSizeUser, Reset, Update};
use manyhash_core::Family;

macro_rules! rustcrypto {
    ($(
        $name:ident $function:ident: $family:ident, $bytes:literal, $module:ident::$initial:ident, [$($spelling:literal),*],
            $about:literal;
    )*) => {
        $(
            use super::$name;

            impl HashMarker for $name {}

            impl OutputSizeUser for $name {
                type OutputSize = <[u8; $bytes] as AssocArraySize>::Size;
            }

            impl BlockSizeUser for $name {
                type BlockSize = <[u8; <manyhash_core::$family as Family>::BLOCK_BYTES] as AssocArraySize>::Size;
            }

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

manyhash_core::algorithms!(rustcrypto);
