//! The digests of an array as Polars takes and gives them: with views.

use crate::rows;
use arrow_array::cast::AsArray;
use arrow_array::types::{BinaryViewType, StringViewType};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use manyhash::{Algorithm, Encoding};
use manyhash_arrow::{Output, digest_array};
use std::num::NonZeroUsize;
use std::sync::OnceLock;

/// Bytes up to which an array is hashed by the thread that Polars calls on: more than what its streaming engine, which has
/// all its threads at work, hands over at once.
const HERE: usize = 16 << 20;

/// What an expression computes.
#[derive(Clone, Copy)]
pub(crate) struct Expression {
    pub(crate) algorithm: Algorithm,
    pub(crate) encoding: Encoding,
    /// Whether there is a second input, the key of an HMAC.
    pub(crate) is_keyed: bool,
}

impl Expression {
    /// The type of the digests of a column of this one.
    pub(crate) fn output_type(self, input: &DataType) -> Result<DataType, String> {
        match input {
            DataType::Utf8View | DataType::BinaryView | DataType::Null if self.is_hex() => Ok(DataType::Utf8View),
            DataType::Utf8View | DataType::BinaryView | DataType::Null => Ok(DataType::BinaryView),
            DataType::Dictionary(..) => Err(refusal("Categorical or Enum")),
            other => Err(refusal(&other.to_string())),
        }
    }

    /// The digests of an array of a type that [`output_type`](Self::output_type) takes.
    pub(crate) fn digest(self, array: &ArrayRef, key: Option<&[u8]>) -> Result<ArrayRef, String> {
        let output = if self.is_hex() { Output::Utf8View } else { Output::BinaryView };
        let batch = rows::batch(self.algorithm, key).threads(self.threads(array));
        digest_array(&batch, array, output).map_err(|error| error.to_string())
    }

    fn is_hex(self) -> bool {
        self.encoding == Encoding::Hex
    }

    /// Threads for rows, if not one for every core.
    fn threads(self, array: &ArrayRef) -> Option<NonZeroUsize> {
        let blocks = array.len().saturating_mul(self.algorithm.block_bytes());
        let is_little = blocks < HERE && blocks.saturating_add(total_bytes(array)) < HERE;
        if is_little { Some(NonZeroUsize::MIN) } else { polars_threads() }
    }
}

/// Bytes of all rows.
fn total_bytes(array: &ArrayRef) -> usize {
    let views = match array.data_type() {
        DataType::Utf8View => array.as_byte_view::<StringViewType>().views(),
        DataType::BinaryView => array.as_byte_view::<BinaryViewType>().views(),
        _ => return 0,
    };
    // A view begins with its row's length.
    views.iter().map(|view| *view as u32 as usize).sum()
}

/// What is said of a type that is not hashed.
pub(crate) fn refusal(data_type: &str) -> String {
    format!("cannot hash a column of type {data_type}; cast it to String or Binary")
}

/// Threads that the user allows Polars, if the user says.
fn polars_threads() -> Option<NonZeroUsize> {
    static THREADS: OnceLock<Option<NonZeroUsize>> = OnceLock::new();
    *THREADS.get_or_init(|| std::env::var("POLARS_MAX_THREADS").ok()?.parse().ok())
}
