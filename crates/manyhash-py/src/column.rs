//! Columns of any library that speaks Arrow's C data interface.
//!
//! Arrays come and go as PyCapsules, so no such library is needed here, and the values are not copied on the way in.
//! One array gives one array; a stream of arrays (a chunked array, a series, the result of a query) gives a stream.

use crate::algorithm;
use crate::buffer::Bytes;
use crate::capsule::{self, Imported, Stream};
use crate::rows;
use arrow_array::{Array as _, ArrayRef, NullArray};
use arrow_schema::{DataType, Field, FieldRef};
use manyhash::{Algorithm, Batch};
use manyhash_arrow::{Output, digest_array, digest_chunks};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The digests of a column, for any library that takes Arrow arrays.
#[pyclass(frozen, module = "manyhash")]
pub(crate) struct Array {
    array: ArrayRef,
    field: FieldRef,
}

#[pymethods]
impl Array {
    /// The type, for Arrow's PyCapsule interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule::export_schema(py, &self.field)
    }

    /// The array, for Arrow's PyCapsule interface: in the requested type if digests can be in it, and else in its own.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let array = std::slice::from_ref(&self.array);
        let (field, arrays) = capsule::requested(&self.field, array, requested_schema.as_ref())?;
        capsule::export_array(py, &field, arrays.first().unwrap_or(&self.array))
    }

    fn __len__(&self) -> usize {
        self.array.len()
    }

    fn __repr__(&self) -> String {
        format!("<manyhash.Array of {} {}>", self.array.len(), self.field.data_type())
    }
}

/// The digests of a column in chunks, for any library that takes Arrow streams.
#[pyclass(frozen, module = "manyhash")]
pub(crate) struct ChunkedArray {
    chunks: Vec<ArrayRef>,
    field: FieldRef,
}

#[pymethods]
impl ChunkedArray {
    /// The type, for Arrow's PyCapsule interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule::export_schema(py, &self.field)
    }

    /// The chunks, for Arrow's PyCapsule interface: in the requested type if digests can be in it, and else in their own.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let (field, chunks) = capsule::requested(&self.field, &self.chunks, requested_schema.as_ref())?;
        capsule::export_stream(py, field, chunks)
    }

    fn __len__(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.len()).sum()
    }

    fn __repr__(&self) -> String {
        let rows = self.__len__();
        format!("<manyhash.ChunkedArray of {rows} {} in {} chunks>", self.field.data_type(), self.chunks.len())
    }
}

/// Return the digests of a column, from any object with __arrow_c_array__ or __arrow_c_stream__, without copying its
/// values.
///
/// The type must be binary, utf8, their large or view forms, or fixed_size_binary; any other raises TypeError. A table
/// or query result with one such column works too. The digests are fixed_size_binary, or with hex utf8 (large_utf8 if
/// they exceed 2 GiB). Nulls stay null. An array returns an Array, a stream returns a ChunkedArray.
///
/// Digests of guessable values (mail addresses, names, numbers) are not pseudonyms: anyone can hash a list of
/// candidates and compare. Use hmac_column for those.
#[pyfunction]
#[pyo3(signature = (name, array, *, hex = false))]
pub(crate) fn digest_column<'py>(name: &str, array: &Bound<'py, PyAny>, hex: bool) -> PyResult<Bound<'py, PyAny>> {
    column(algorithm::parse(name)?, None, array, hex)
}

/// Return the HMACs (RFC 2104) of a column's rows under one key. Otherwise as digest_column, but candidates cannot be
/// checked without the key. The key is a buffer of any length; use 32 random bytes (secrets.token_bytes).
#[pyfunction]
#[pyo3(signature = (key, name, array, *, hex = false))]
pub(crate) fn hmac_column<'py>(
    key: &Bound<'py, PyAny>,
    name: &str,
    array: &Bound<'py, PyAny>,
    hex: bool,
) -> PyResult<Bound<'py, PyAny>> {
    column(algorithm::parse(name)?, Some(Bytes::of(key)?.as_slice()), array, hex)
}

fn column<'py>(
    algorithm: Algorithm,
    key: Option<&[u8]>,
    array: &Bound<'py, PyAny>,
    hex: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let output = if hex { Output::Utf8 } else { Output::FixedSizeBinary };
    let batch = array.py().detach(|| rows::batch(algorithm, key));
    // Arrow's crates panic over arrays that break the rules of the interface.
    let hashed = catch_unwind(AssertUnwindSafe(|| match capsule::import(array)? {
        Some(Imported::Array(rows, field)) => hash_array(&batch, array.py(), &rows, &field, output),
        Some(Imported::Stream(stream)) => hash_stream(&batch, array, stream, output),
        None => {
            let message = "expected an object with __arrow_c_array__ or __arrow_c_stream__";
            let advice = "pyarrow.array makes one of most columns";
            Err(PyTypeError::new_err(format!("{message}, not {}; {advice}", array.get_type().name()?)))
        }
    }));
    hashed.unwrap_or_else(|_| {
        let message = "invalid array in Arrow's C data interface; see standard error for the reason";
        Err(PyValueError::new_err(message))
    })
}

fn hash_array<'py>(
    batch: &Batch,
    py: Python<'py>,
    rows: &ArrayRef,
    field: &Field,
    output: Output,
) -> PyResult<Bound<'py, PyAny>> {
    let array = py.detach(|| digest_array(batch, rows, output)).map_err(capsule::exception)?;
    let field = Arc::new(Field::new(field.name(), array.data_type().clone(), true));
    Ok(Bound::new(py, Array { array, field })?.into_any())
}

fn hash_stream<'py>(
    batch: &Batch,
    array: &Bound<'py, PyAny>,
    stream: Stream,
    output: Output,
) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    let name = stream.field().name().clone();
    // Polars gives an array of nulls a buffer, which Arrow has not; and they need not be looked at.
    let nulls = if is_null(stream.field().data_type()) { array.len().ok() } else { None };
    // Another library's code brings the arrays; it takes the interpreter itself if it needs it.
    let chunks = py.detach(|| match nulls {
        Some(rows) => digest_chunks(batch, [Ok(Arc::new(NullArray::new(rows)) as ArrayRef)], output),
        None => digest_chunks(batch, stream, output),
    });
    let chunks = chunks.map_err(capsule::exception)?;
    let field = Arc::new(Field::new(name, chunks.data_type, true));
    Ok(Bound::new(py, ChunkedArray { chunks: chunks.arrays, field })?.into_any())
}

/// Whether a type, or that of a table's only column, is that of nulls.
fn is_null(data_type: &DataType) -> bool {
    match data_type {
        DataType::Struct(fields) if fields.len() == 1 => is_null(fields[0].data_type()),
        other => *other == DataType::Null,
    }
}
