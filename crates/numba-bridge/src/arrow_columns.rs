//! Arrow columns on a device as arrays.

use crate::error::unsupported;
use crate::{ElementType, Error, StridedArray, StridedLayout};
use arrow_cuda_array::DeviceArray;
use arrow_schema::DataType;

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
        Ok(match data_type {
            DataType::Int8 => Self::int(1),
            DataType::Int16 => Self::int(2),
            DataType::Int32 => Self::int(4),
            DataType::Int64 => Self::int(8),
            DataType::UInt8 => Self::uint(1),
            DataType::UInt16 => Self::uint(2),
            DataType::UInt32 => Self::uint(4),
            DataType::UInt64 => Self::uint(8),
            DataType::Float16 => Self::float(2),
            DataType::Float32 => Self::float(4),
            DataType::Float64 => Self::float(8),
            other => return unsupported(format!("{other} is no type of numbers")),
        })
    }
}

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
        return unsupported("the column has nulls, and arrays have none");
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
