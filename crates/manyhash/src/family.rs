//! From an algorithm's name to its family, and the length of its digest, once a call.

/// `with_family!(algorithm, F, start => body)`: the body with `F` the algorithm's family and `start` its initial state.
macro_rules! with_family {
    ($algorithm:expr, $family:ident, $start:ident => $body:expr) => {
        match $algorithm.start() {
            manyhash_core::Start::Md5($start) => {
                type $family = manyhash_core::Md5;
                $body
            }
            manyhash_core::Start::Sha1($start) => {
                type $family = manyhash_core::Sha1;
                $body
            }
            manyhash_core::Start::Sha256($start) => {
                type $family = manyhash_core::Sha256;
                $body
            }
            manyhash_core::Start::Sha512($start) => {
                type $family = manyhash_core::Sha512;
                $body
            }
        }
    };
}
pub(crate) use with_family;

/// `with_length!(algorithm, F, N, start => body)`: the same with `N` the bytes of a digest, for code that copies them: the
/// length is then a constant.
macro_rules! with_length {
    ($algorithm:expr, $family:ident, $length:ident, $start:ident => $body:expr) => {
        with_length!($algorithm, $family, $length, $start => $body;
            Md5 _ 16, Sha1 _ 20, Sha256 28 28, Sha256 _ 32, Sha512 32 32, Sha512 48 48, Sha512 _ 64)
    };
    ($algorithm:expr, $family:ident, $length:ident, $start:ident => $body:expr; $($of:ident $bytes:tt $constant:literal),*) => {
        match ($algorithm.start(), $algorithm.digest_bytes()) {
            $((manyhash_core::Start::$of($start), $bytes) => {
                type $family = manyhash_core::$of;
                const $length: usize = $constant;
                $body
            })*
        }
    };
}
pub(crate) use with_length;
