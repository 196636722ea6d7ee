//! From an algorithm's name to its family, once a call.

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
