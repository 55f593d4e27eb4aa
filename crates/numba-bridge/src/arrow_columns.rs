//! Arrow columns on a device as arrays, and back.

use crate::dlpack::Tensor;
use crate::error::{invalid, unsupported};
use crate::{ElementType, Error, Order, StridedArray, StridedLayout};
use arrow_cuda_array::{ArrayParts, DeviceArray};
use arrow_cuda_context::Consumer;
use arrow_schema::{DataType, Field};
use std::sync::Arc;

/// The type of the elements of a column of numbers.
///
/// ```
/// use arrow_cuda_numba_bridge::ElementType;
/// use arrow_schema::DataType;
///
/// assert_eq!(ElementType::try_from(&DataType::Float32)?, ElementType::float(4));
/// assert!(ElementType::try_from(&DataType::Utf8).is_err());
/// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
/// ```
impl TryFrom<&DataType> for ElementType {
    type Error = Error;

    fn try_from(data_type: &DataType) -> Result<Self, Error> {
        match TYPES.iter().find(|(arrow, _)| arrow == data_type) {
            Some((_, element)) => Ok(*element),
            None => unsupported(format!(
                "{data_type} is no type of numbers: make a column of the same parts with such a type"
            )),
        }
    }
}

/// The type of a column with these elements.
///
/// ```
/// use arrow_cuda_numba_bridge::ElementType;
/// use arrow_schema::DataType;
///
/// assert_eq!(DataType::try_from(ElementType::float(4))?, DataType::Float32);
/// assert!(DataType::try_from(ElementType::complex(8)).is_err());
/// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
/// ```
impl TryFrom<ElementType> for DataType {
    type Error = Error;

    fn try_from(element: ElementType) -> Result<Self, Error> {
        match TYPES.iter().find(|(_, each)| *each == element) {
            Some((arrow, _)) => Ok(arrow.clone()),
            None => unsupported(format!("Arrow has no numbers of the type '{element}'")),
        }
    }
}

/// Arrow's numbers, and the elements of arrays.
const TYPES: [(DataType, ElementType); 11] = [
    (DataType::Int8, ElementType::int(1)),
    (DataType::Int16, ElementType::int(2)),
    (DataType::Int32, ElementType::int(4)),
    (DataType::Int64, ElementType::int(8)),
    (DataType::UInt8, ElementType::uint(1)),
    (DataType::UInt16, ElementType::uint(2)),
    (DataType::UInt32, ElementType::uint(4)),
    (DataType::UInt64, ElementType::uint(8)),
    (DataType::Float16, ElementType::float(2)),
    (DataType::Float32, ElementType::float(4)),
    (DataType::Float64, ElementType::float(8)),
];

/// The elements of a column of numbers, or of lists of a fixed size of numbers, which share the memory: an array of
/// shape (n,), or (n, size).
///
/// ```
/// use arrow_array::Int64Array;
/// use arrow_cuda_array::DeviceArray;
/// use arrow_cuda_context::{Consumer, Context};
/// use arrow_cuda_numba_bridge::StridedArray;
///
/// let numbers = Int64Array::from(vec![1, 2, 3]);
/// let column = DeviceArray::from_host(&Context::primary(0)?, &numbers)?;
/// let array = StridedArray::try_from(&column.slice(1, 2)?)?;
/// assert_eq!(array.layout().shape(), [2]);
/// let tensor = array.to_dlpack(Consumer::OnDefaultStream)?; // for another library
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Fails with [`Error::Unsupported`] for other types, for columns with nulls, which arrays do not have, and for memory
/// that is not aligned, such as that of a message at an odd address; with driver errors where the nulls have to be
/// counted.
impl TryFrom<&DeviceArray> for StridedArray {
    type Error = Error;

    fn try_from(column: &DeviceArray) -> Result<Self, Error> {
        let (shape, elements) = elements_of(column)?;
        let element = ElementType::try_from(elements.data_type())?;
        let Some(values) = elements.buffers().first() else {
            return unsupported(format!("{} has no elements", elements.data_type()));
        };
        let layout = StridedLayout::row_major(element, shape)?;
        let size = element.size() as usize;
        let array = Self::new(values, elements.offset() * size, layout)?;
        array.check_aligned(size)?;
        Ok(array)
    }
}

/// The shape of a column, and the innermost elements of its lists of a fixed size.
fn elements_of(column: &DeviceArray) -> Result<(Vec<i64>, DeviceArray), Error> {
    if column.null_count()? > 0 {
        let text = "the column has nulls, and arrays have none: replace them before the column is copied, or make \
                    a column of its parts without `nulls`";
        return unsupported(text);
    }
    let length = column.len() as i64;
    let (DataType::FixedSizeList(_, size), Some(child)) =
        (column.data_type(), column.children().next())
    else {
        return Ok((vec![length], column.clone()));
    };
    let each = usize::try_from(*size).unwrap_or(0);
    let child = child.slice(column.offset() * each, column.len() * each)?;
    let (mut shape, elements) = elements_of(&child)?;
    shape.splice(..1, [length, (*size).into()]);
    Ok((shape, elements))
}

/// The elements of an array as a column, which shares the memory: those of shape (n,) as numbers, those of shape
/// (n, size) as lists of a fixed size, and so on.
///
/// ```
/// use arrow_cuda_array::DeviceArray;
/// use arrow_cuda_context::Context;
/// use arrow_cuda_numba_bridge::{ElementType, Order, StridedArray, StridedLayout};
/// use arrow_schema::DataType;
///
/// let layout = StridedLayout::row_major(ElementType::uint(1), vec![3])?;
/// let array = StridedArray::allocate(&Context::primary(0)?, layout)?;
/// array.copy_from_host(&[1, 2, 3], Order::C)?;
/// let column = DeviceArray::try_from(&array)?;
/// assert_eq!((column.data_type(), column.len()), (&DataType::UInt8, 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Fails with [`Error::NeedsCopy`] for elements with gaps or in another order, with [`Error::Unsupported`] for a type
/// that Arrow does not have and for memory that is not aligned, and with [`Error::Invalid`] without a dimension.
impl TryFrom<&StridedArray> for DeviceArray {
    type Error = Error;

    fn try_from(array: &StridedArray) -> Result<Self, Error> {
        if !array.is_dense(Order::C) {
            let text =
                "a column's elements lie one after the other: array.copy(Order::C) has them so";
            return Err(Error::NeedsCopy(text.to_owned()));
        }
        let numbers = DataType::try_from(array.element())?;
        array.check_aligned(array.element().size() as usize)?;
        let Some((&rows, sizes)) = array.layout().shape().split_first() else {
            return invalid("an array without a dimension is no column");
        };
        // How many there are of the numbers, and before them of the lists of each dimension.
        let mut lengths = vec![rows];
        let mut lists = Vec::new();
        for &size in sizes {
            let length = lengths.last().and_then(|length| length.checked_mul(size));
            let (Ok(size), Some(length)) = (i32::try_from(size), length) else {
                return unsupported(format!(
                    "Arrow has no {rows} rows of lists of {sizes:?} elements"
                ));
            };
            lengths.push(length);
            lists.push(size);
        }
        let context = array.buffer().context();
        let parts = |data_type, length: Option<i64>| ArrayParts {
            null_count: Some(0),
            ..ArrayParts::new(data_type, length.unwrap_or(0) as usize)
        };
        let values = vec![array.buffer().clone()];
        let mut column =
            Self::new(context, ArrayParts { buffers: values, ..parts(numbers, lengths.pop()) })?;
        while let Some(size) = lists.pop() {
            let item = Arc::new(Field::new_list_field(column.data_type().clone(), true));
            let data_type = DataType::FixedSizeList(item, size);
            let children = vec![column];
            column =
                Self::new(context, ArrayParts { children, ..parts(data_type, lengths.pop()) })?;
        }
        Ok(column)
    }
}

/// Columns of numbers as tensors of DLPack.
///
/// ```
/// use arrow_array::Float32Array;
/// use arrow_cuda_array::DeviceArray;
/// use arrow_cuda_context::{Consumer, Context};
/// use arrow_cuda_numba_bridge::ToDlpack;
///
/// let numbers = Float32Array::from(vec![1.5, 2.5, 3.5]);
/// let column = DeviceArray::from_host(&Context::primary(0)?, &numbers)?;
/// let tensor = column.to_dlpack(Consumer::OnDefaultStream)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait ToDlpack {
    /// The elements as a tensor for another library, without a copy: see [`StridedArray::to_dlpack`].
    ///
    /// # Errors
    ///
    /// Those of the column's conversion to a [`StridedArray`], such as for nulls, and of
    /// [`StridedArray::to_dlpack`].
    fn to_dlpack(&self, consumer: Consumer) -> Result<Tensor, Error>;
}

impl ToDlpack for DeviceArray {
    fn to_dlpack(&self, consumer: Consumer) -> Result<Tensor, Error> {
        StridedArray::try_from(self)?.to_dlpack(consumer)
    }
}
