//! From an algorithm's name to its family, and the length of its digest, once a call.

/// `with_family!(algorithm, F, start => body)`: the body with `F` the algorithm's family and `start` its initial state.
macro_rules! with_family {
    ($algorithm:expr, $family:ident, $start:ident => $body:expr) => {
        manyhash_core::families!(with_family ($algorithm) $family $start ($body) @)
    };
    (($algorithm:expr) $family:ident $start:ident ($body:expr) @ $($of:ident $($arch:literal $module:ident::$file:ident)*;)*) => {
        match $algorithm.start() {
            $(manyhash_core::Start::$of($start) => {
                type $family = manyhash_core::$of;
                $body
            })*
        }
    };
}
pub(crate) use with_family;

/// `with_length!(algorithm, F, N, start => body)`: the same with `N` the bytes of a digest, for code that copies them: the
/// length is then a constant.
macro_rules! with_length {
    ($algorithm:expr, $family:ident, $length:ident, $start:ident => $body:expr) => {
        manyhash_core::algorithms!(with_length ($algorithm) $family $length $start ($body) @)
    };
    (($algorithm:expr) $family:ident $length:ident $start:ident ($body:expr) @ $(
        $name:ident $function:ident: $of:ident, $bytes:literal, $module:ident::$initial:ident, [$($spelling:literal),*],
            $about:literal;
    )*) => {
        match ($algorithm, $algorithm.start()) {
            $((manyhash_core::Algorithm::$name, manyhash_core::Start::$of($start)) => {
                type $family = manyhash_core::$of;
                const $length: usize = $bytes;
                $body
            })*
            _ => unreachable!("an algorithm has its start, and a row in the table"),
        }
    };
}
pub(crate) use with_length;
