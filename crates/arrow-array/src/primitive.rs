//! Columns of fixed width as slices of numbers, and back, without a copy.

use crate::error::invalid;
use crate::{ArrayParts, DeviceArray, Error};
use arrow_array::{ArrowPrimitiveType, PrimitiveArray};
use arrow_cuda_buffer::DeviceSlice;
use bytemuck::Pod;

impl DeviceArray {
    /// The elements of a column of numbers, dates or times, which share its memory.  Where an element is null, the
    /// number is any: see [`nulls`](Self::nulls).  Of decimals, these are the integers without their scale.
    ///
    /// ```
    /// use arrow_array::Int64Array;
    /// use arrow_array::types::Int64Type;
    /// use arrow_cuda_array::DeviceArray;
    /// use arrow_cuda_context::Context;
    ///
    /// let numbers = Int64Array::from(vec![1, 2, 3, 4]);
    /// let column = DeviceArray::from_host(&Context::primary(0)?, &numbers)?.slice(2, 2)?;
    /// assert_eq!(column.values::<Int64Type>()?.to_vec()?, [3, 4]);
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a column of another type; [`Error::Buffer`] for one at an address that is not aligned for
    /// the numbers.
    pub fn values<T: ArrowPrimitiveType>(&self) -> Result<DeviceSlice<T::Native>, Error>
    where
        T::Native: Pod,
    {
        if !PrimitiveArray::<T>::is_compatible(self.data_type()) {
            return invalid(format!(
                "the column is of {}, not of {}",
                self.data_type(),
                T::DATA_TYPE
            ));
        }
        let Some(buffer) = self.buffers().first() else {
            return invalid("the column has no buffer");
        };
        if self.is_empty() {
            return Ok(DeviceSlice::allocate(self.context(), 0)?); // whatever its address is
        }
        let all = DeviceSlice::from_buffer(
            buffer.slice(..(self.offset() + self.len()) * size_of::<T::Native>())?,
        )?;
        Ok(all.slice(self.offset()..)?)
    }

    /// A column without nulls of the elements of a slice, whose memory it shares.  Times have no zone.
    ///
    /// ```
    /// use arrow_array::Int32Array;
    /// use arrow_array::types::Int32Type;
    /// use arrow_cuda_array::DeviceArray;
    /// use arrow_cuda_buffer::DeviceSlice;
    /// use arrow_cuda_context::Context;
    ///
    /// let results = DeviceSlice::from_slice(&Context::primary(0)?, &[3i32, 4, 5])?;
    /// let column = DeviceArray::from_values::<Int32Type>(results)?;
    /// assert_eq!(*column.to_host()?, Int32Array::from(vec![3, 4, 5]));
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for decimals, whose precision and scale [`ArrayParts`] has; as [`new`](Self::new).
    pub fn from_values<T: ArrowPrimitiveType>(values: DeviceSlice<T::Native>) -> Result<Self, Error>
    where
        T::Native: Pod,
    {
        if T::DATA_TYPE.is_decimal() {
            return invalid(
                "a column of decimals needs their precision and scale: use DeviceArray::new",
            );
        }
        let (length, buffer) = (values.len(), values.into_buffer());
        let context = buffer.context().clone();
        let parts = ArrayParts { buffers: vec![buffer], ..ArrayParts::new(T::DATA_TYPE, length) };
        Self::new(&context, parts)
    }
}
