//! Columns of any library that speaks Arrow's C data interface.
//!
//! Arrays come and go as PyCapsules, so no such library is needed here, and the values are not copied on the way in.
//! One array gives one array; a stream of arrays (a chunked array, a series, the result of a query) gives a stream.

use crate::algorithm;
use crate::buffer::Bytes;
use crate::pages::fresh;
use crate::rows;
use arrow_array::cast::AsArray;
use arrow_array::{Array as _, ArrayRef, FixedSizeBinaryArray, GenericStringArray, NullArray, OffsetSizeTrait};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, FieldRef};
use manyhash::arrow::{check_type, with_column};
use manyhash::{Algorithm, Batch, Encoding};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use pyo3_arrow::ffi::{ArrayIterator, to_array_pycapsules, to_schema_pycapsule, to_stream_pycapsule};
use pyo3_arrow::input::AnyArray;
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
        Ok(to_schema_pycapsule(py, &*self.field)?)
    }

    /// The array, for Arrow's PyCapsule interface.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        Ok(to_array_pycapsules(py, self.field.clone(), &self.array, requested_schema)?)
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
        Ok(to_schema_pycapsule(py, &*self.field)?)
    }

    /// The chunks, for Arrow's PyCapsule interface.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let chunks: Vec<Result<ArrayRef, ArrowError>> = self.chunks.iter().cloned().map(Ok).collect();
        Ok(to_stream_pycapsule(py, Box::new(ArrayIterator::new(chunks, self.field.clone())), requested_schema)?)
    }

    fn __len__(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.len()).sum()
    }

    fn __repr__(&self) -> String {
        let rows = self.__len__();
        format!("<manyhash.ChunkedArray of {rows} {} in {} chunks>", self.field.data_type(), self.chunks.len())
    }
}

/// The digests of a column: of anything with __arrow_c_array__ or __arrow_c_stream__, without copying its values.
///
/// The type is binary, utf8, their large and view forms, or fixed_size_binary; any other is a TypeError. A table or
/// query result of one such column will do. The digests are fixed_size_binary, or, with hex, utf8 (large_utf8 if they
/// are more than 2 GiB). Null in, null out. An array gives an Array, a stream a ChunkedArray.
///
/// Who has a list of possible values (mail addresses, names, numbers) finds the values of digests by hashing the list. For
/// pseudonyms of such values use hmac_column.
#[pyfunction]
#[pyo3(signature = (name, array, *, hex = false))]
pub(crate) fn digest_column<'py>(name: &str, array: &Bound<'py, PyAny>, hex: bool) -> PyResult<Bound<'py, PyAny>> {
    column(algorithm::parse(name)?, None, array, hex)
}

/// The HMACs (RFC 2104) of a column's rows under one key: as digest_column, but nobody finds the values again without the
/// key. The key is a buffer of any length; 32 random bytes (secrets.token_bytes) are good.
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
    let py = array.py();
    let batch = py.detach(|| rows::batch(algorithm, key));
    let work = ColumnWork { batch, encoding: if hex { Encoding::Hex } else { Encoding::Binary } };
    if !array.hasattr("__arrow_c_array__")? && !array.hasattr("__arrow_c_stream__")? {
        let message = "expected an object with __arrow_c_array__ or __arrow_c_stream__";
        let advice = "pyarrow.array makes one of most columns";
        return Err(PyTypeError::new_err(format!("{message}, not {}; {advice}", array.get_type().name()?)));
    }
    // Arrow's crates panic over arrays that break the rules of the interface.
    catch_unwind(AssertUnwindSafe(|| work.of_object(array))).unwrap_or_else(|_| {
        let message =
            "the array breaks the rules of Arrow's C data interface; standard error has the first that it breaks";
        Err(PyValueError::new_err(message))
    })
}

/// Whether a type, or that of a table's only column, is that of nulls.
fn is_null(data_type: &DataType) -> bool {
    match data_type {
        DataType::Struct(fields) if fields.len() == 1 => is_null(fields[0].data_type()),
        other => *other == DataType::Null,
    }
}

/// The digests of one array, side by side.
struct Digests {
    bytes: Buffer,
    rows: usize,
    nulls: Option<NullBuffer>,
}

struct ColumnWork {
    batch: Batch,
    encoding: Encoding,
}

impl ColumnWork {
    fn of_object<'py>(&self, array: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = array.py();
        match array.extract()? {
            AnyArray::Array(array) => {
                let (array, field) = array.into_inner();
                let (field, mut arrays) = py.detach(|| {
                    let digests = vec![self.digest(&array)?];
                    self.arrays(&field, digests)
                })?;
                let array = arrays.pop().ok_or_else(|| PyValueError::new_err("no array"))?;
                Ok(Bound::new(py, Array { array, field })?.into_any())
            }
            AnyArray::Stream(stream) => {
                // Another library's code brings the arrays; it takes the interpreter itself if it needs it.
                let reader = stream.into_reader()?;
                // Polars gives an array of nulls a buffer, which Arrow has not; and they need not be looked at.
                let nulls = if is_null(reader.field().data_type()) { array.len().ok() } else { None };
                let (field, chunks) = py.detach(|| {
                    let field = reader.field();
                    self.check(field.data_type())?;
                    if let Some(rows) = nulls {
                        let nulls: ArrayRef = Arc::new(NullArray::new(rows));
                        return self.arrays(&field, vec![self.digest(&nulls)?]);
                    }
                    let digests = reader
                        .map(|array| self.digest(&array.map_err(|error| PyValueError::new_err(error.to_string()))?))
                        .collect::<PyResult<_>>()?;
                    self.arrays(&field, digests)
                })?;
                Ok(Bound::new(py, ChunkedArray { chunks, field })?.into_any())
            }
        }
    }

    /// Says what is wrong with a type, also of a stream without arrays.
    fn check(&self, data_type: &DataType) -> PyResult<()> {
        match data_type {
            DataType::Struct(fields) if fields.len() == 1 => self.check(fields[0].data_type()),
            other => check_type(other).map_err(|error| PyTypeError::new_err(error.to_string())),
        }
    }

    fn digest(&self, array: &ArrayRef) -> PyResult<Digests> {
        self.check(array.data_type())?;
        if let Some(table) = array.as_struct_opt() {
            if table.null_count() > 0 {
                return Err(PyValueError::new_err("a table's rows cannot be null; select its column"));
            }
            return self.digest(table.column(0));
        }
        let mut bytes = fresh(vec![0; array.len() * self.encoding.width(self.batch.algorithm())]);
        let hashed = with_column(array, |column| self.batch.digest_column_into(column, self.encoding, &mut bytes));
        hashed
            .map_err(|error| PyValueError::new_err(error.to_string()))?
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Digests { bytes: Buffer::from_vec(bytes), rows: array.len(), nulls: array.logical_nulls() })
    }

    /// Arrays of one type, with the field that says which.
    fn arrays(&self, field: &FieldRef, digests: Vec<Digests>) -> PyResult<(FieldRef, Vec<ArrayRef>)> {
        let width = self.encoding.width(self.batch.algorithm());
        let array = match self.encoding {
            Encoding::Binary => |digests, width| fixed(digests, width),
            Encoding::Hex if digests.iter().all(|digests| i32::try_from(digests.bytes.len()).is_ok()) => {
                |digests, width| strings::<i32>(digests, width)
            }
            Encoding::Hex => |digests, width| strings::<i64>(digests, width),
        };
        let arrays: Result<Vec<ArrayRef>, ArrowError> =
            digests.into_iter().map(|digests| array(digests, width)).collect();
        let arrays = arrays.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let data_type = match (arrays.first(), self.encoding) {
            (Some(array), _) => array.data_type().clone(),
            (None, Encoding::Binary) => DataType::FixedSizeBinary(width as i32),
            (None, Encoding::Hex) => DataType::Utf8,
        };
        Ok((Arc::new(Field::new(field.name(), data_type, true)), arrays))
    }
}

fn fixed(digests: Digests, width: usize) -> Result<ArrayRef, ArrowError> {
    Ok(Arc::new(FixedSizeBinaryArray::try_new(width as i32, digests.bytes, digests.nulls)?))
}

fn strings<O: OffsetSizeTrait>(digests: Digests, width: usize) -> Result<ArrayRef, ArrowError> {
    let offsets: Vec<O> = (0..=digests.rows).map(|row| O::usize_as(row * width)).collect();
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    // SAFETY: the library wrote `rows` digests of this width, and hexadecimal digits are ASCII. Nulls are the input's, which
    // has as many rows.
    Ok(Arc::new(unsafe { GenericStringArray::<O>::new_unchecked(offsets, digests.bytes, digests.nulls) }))
}
