//! The expression plugin behind `manyhash.polars`.
//!
//! Polars opens this library once more, by its path, and calls a function of C by its name: here one for each algorithm and
//! encoding, and beside it one that says the type of what it gives. [`plugin`] is this interface; [`digest`] makes arrays
//! of digests.

mod digest;
mod plugin;

use arrow_schema::ffi::FFI_ArrowSchema;
use digest::Expression;
use manyhash::{Algorithm, Encoding};
use plugin::SeriesExport;
use std::ffi::c_void;

/// Exports the two functions of an expression that Polars looks for: what it gives, and its type.
macro_rules! export {
    ($name:expr, $algorithm:ident, $encoding:ident, keyed: $is_keyed:literal) => {
        const _: () = {
            const WORK: Expression =
                Expression { algorithm: Algorithm::$algorithm, encoding: Encoding::$encoding, is_keyed: $is_keyed };

            #[unsafe(export_name = concat!("_polars_plugin_", $name))]
            unsafe extern "C" fn evaluate(
                inputs: *mut SeriesExport,
                count: usize,
                _options: *const u8,
                _options_bytes: usize,
                output: *mut SeriesExport,
                _context: *const c_void,
            ) {
                // SAFETY: Polars calls it with the arguments that `plugin::evaluate` asks for, under this name.
                unsafe { plugin::evaluate(WORK, inputs, count, output) }
            }

            #[unsafe(export_name = concat!("_polars_plugin_field_", $name))]
            unsafe extern "C" fn output_type(
                inputs: *const FFI_ArrowSchema,
                count: usize,
                output: *mut FFI_ArrowSchema,
                _options: *const u8,
                _options_bytes: usize,
            ) {
                // SAFETY: Polars calls it with the arguments that `plugin::output_type` asks for, under this name.
                unsafe { plugin::output_type(WORK, inputs, count, output) }
            }
        };
    };
}

macro_rules! expressions {
    ($(
        $name:ident $function:ident: $family:ident, $bytes:literal, $module:ident::$initial:ident, [$($spelling:literal),*],
            $about:literal;
    )*) => {
        $(
            export!(stringify!($function), $name, Binary, keyed: false);
            export!(concat!(stringify!($function), "_hex"), $name, Hex, keyed: false);
            export!(concat!("hmac_", stringify!($function)), $name, Binary, keyed: true);
            export!(concat!("hmac_", stringify!($function), "_hex"), $name, Hex, keyed: true);
        )*
    };
}

manyhash::algorithms!(expressions);
