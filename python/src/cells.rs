//! Columns of Arrow arrays, as cells of rows.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, GenericBinaryArray, Int64Array,
    LargeBinaryArray, OffsetSizeTrait, make_array,
};
use arrow_data::ArrayData;
use arrow_pyarrow::FromPyArrow;
use arrow_schema::DataType;
use botaudit::classify::rows::InputRows;
use bytes::Bytes;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// A column of texts or numbers. The Python side casts all others to one of these types.
pub enum Cells {
    /// Texts with offsets of 32 bits.
    Binary(BinaryArray),
    /// Texts with offsets of 64 bits.
    LargeBinary(LargeBinaryArray),
    /// Texts as views.
    BinaryView(BinaryViewArray),
    /// Numbers, such as seconds since 1970.
    Int64(Int64Array),
}

impl Cells {
    /// The column in `array`, an object of pyarrow.
    pub fn of(array: &Bound<'_, PyAny>) -> PyResult<Cells> {
        let array: ArrayRef = make_array(ArrayData::from_pyarrow_bound(array)?);
        Ok(match array.data_type() {
            DataType::Binary => Cells::Binary(array.as_binary::<i32>().clone()),
            DataType::LargeBinary => Cells::LargeBinary(array.as_binary::<i64>().clone()),
            DataType::BinaryView => Cells::BinaryView(array.as_binary_view().clone()),
            DataType::Int64 => Cells::Int64(array.as_primitive::<Int64Type>().clone()),
            other => {
                return Err(PyTypeError::new_err(format!("a column has the type {other}")));
            }
        })
    }

    fn array(&self) -> &dyn Array {
        match self {
            Cells::Binary(array) => array,
            Cells::LargeBinary(array) => array,
            Cells::BinaryView(array) => array,
            Cells::Int64(array) => array,
        }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.array().len()
    }

    /// Whether the cell of `row` is null.
    pub fn is_null(&self, row: usize) -> bool {
        self.array().is_null(row)
    }

    /// Whether any cell is null.
    pub fn has_nulls(&self) -> bool {
        self.array().null_count() > 0
    }

    /// The text of a cell; `None` if it is null or a number.
    pub fn text(&self, row: usize) -> Option<&[u8]> {
        if self.is_null(row) {
            return None;
        }
        match self {
            Cells::Binary(array) => Some(array.value(row)),
            Cells::LargeBinary(array) => Some(array.value(row)),
            Cells::BinaryView(array) => Some(array.value(row)),
            Cells::Int64(_) => None,
        }
    }

    /// The number in a cell; `None` if it is null or a text.
    pub fn number(&self, row: usize) -> Option<i64> {
        match self {
            Cells::Int64(array) if !array.is_null(row) => Some(array.value(row)),
            _ => None,
        }
    }

    /// The rows from `start` on, copied at once, and the row after the last one: as many as have
    /// `bytes_max` bytes together. `None` if they are not in one buffer, or the first one is longer.
    pub fn rows(&self, start: usize, bytes_max: usize) -> Option<(InputRows, usize)> {
        match self {
            Cells::Binary(array) => rows(array, start, bytes_max),
            Cells::LargeBinary(array) => rows(array, start, bytes_max),
            Cells::BinaryView(_) | Cells::Int64(_) => None,
        }
    }

    /// The bytes of each cell, without a copy where the array has them in one buffer.
    pub fn shared_bytes(&self) -> Box<dyn Fn(usize) -> Bytes + '_> {
        let all = match self {
            Cells::Binary(array) => Bytes::from_owner(array.values().clone()),
            Cells::LargeBinary(array) => Bytes::from_owner(array.values().clone()),
            Cells::BinaryView(_) | Cells::Int64(_) => Bytes::new(),
        };
        Box::new(move |row| match self {
            Cells::Binary(array) => {
                let offsets = array.value_offsets();
                all.slice(offsets[row] as usize..offsets[row + 1] as usize)
            }
            Cells::LargeBinary(array) => {
                let offsets = array.value_offsets();
                all.slice(offsets[row] as usize..offsets[row + 1] as usize)
            }
            _ => Bytes::copy_from_slice(self.text(row).unwrap_or_default()),
        })
    }
}

fn rows<O: OffsetSizeTrait>(
    array: &GenericBinaryArray<O>,
    start: usize,
    bytes_max: usize,
) -> Option<(InputRows, usize)> {
    let offsets = &array.value_offsets()[start..];
    let bytes_of = |end: &O| end.as_usize() - offsets[0].as_usize();
    let count = offsets.partition_point(|end| bytes_of(end) <= bytes_max) - 1;
    let bytes = offsets[0].as_usize()..offsets[count].as_usize();
    let ends = offsets[1..=count].iter().map(|end| bytes_of(end) as u32);
    let text = array.value_data()[bytes].to_vec();
    (count > 0).then(|| (InputRows::of_cells(text, ends), start + count))
}
