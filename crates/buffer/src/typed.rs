//! Device memory as elements of one type.

use crate::copy::too_large;
use crate::error::invalid;
use crate::{DeviceBuffer, Error, range};
use arrow_cuda_context::{Completed, Context};
use arrow_cuda_transfer::CopyOrder;
use bytemuck::{Pod, must_cast_slice, must_cast_slice_mut};
use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeBounds;

/// Device memory as elements of a type whose every bit pattern is a value: integers, floats, and what
/// implements [`Pod`](bytemuck::Pod).
///
/// It is a [`DeviceBuffer`] of whole, aligned elements.  Clones and slices share the memory: writes through one are
/// visible through the others.  Lengths and positions count elements.
///
/// ```
/// use arrow_cuda_buffer::DeviceSlice;
/// use arrow_cuda_context::Context;
///
/// let context = Context::primary(0)?;
/// let numbers = DeviceSlice::from_slice(&context, &[1.5f64, 2.5, 3.5])?;
/// numbers.slice(1..)?.copy_from_host(&[20.0, 30.0])?;
/// assert_eq!(numbers.to_vec()?, [1.5, 20.0, 30.0]);
/// assert_eq!(numbers.buffer().len(), 24);
/// # Ok::<(), arrow_cuda_buffer::Error>(())
/// ```
///
/// Elements of no size do not compile:
///
/// ```compile_fail,E0080
/// # use arrow_cuda_buffer::DeviceSlice;
/// # use arrow_cuda_context::Context;
/// # let context = Context::primary(0).expect("a device");
/// let nothing = DeviceSlice::<()>::allocate(&context, 3);
/// ```
#[derive(Clone)]
pub struct DeviceSlice<T: Pod> {
    buffer: DeviceBuffer,
    element: PhantomData<fn() -> T>,
}

impl<T: Pod> DeviceSlice<T> {
    const SIZE: usize = {
        assert!(size_of::<T>() > 0, "elements of a device slice must have a size");
        size_of::<T>()
    };

    /// Allocates `length` elements, uninitialised, as [`DeviceBuffer::allocate`] does.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceSlice;
    /// use arrow_cuda_context::Context;
    ///
    /// let numbers = DeviceSlice::<u64>::allocate(&Context::primary(0)?, 3)?;
    /// assert_eq!((numbers.len(), numbers.buffer().len()), (3, 24));
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the device has no room: `CUDA_ERROR_OUT_OF_MEMORY`; [`Error::Invalid`] for more bytes than
    /// there are addresses.
    pub fn allocate(context: &Context, length: usize) -> Result<Self, Error> {
        let Some(size) = length.checked_mul(Self::SIZE) else {
            let each = Self::SIZE;
            return invalid(format!("{length} elements of {each} bytes exceed every address"));
        };
        Ok(Self::of(DeviceBuffer::allocate(context, size)?))
    }

    /// Allocates `length` elements whose bytes are 0.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceSlice;
    /// use arrow_cuda_context::Context;
    ///
    /// let sums = DeviceSlice::<f32>::zeros(&Context::primary(0)?, 3)?;
    /// assert_eq!(sums.to_vec()?, [0.0; 3]);
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`allocate`](Self::allocate); other driver errors.
    pub fn zeros(context: &Context, length: usize) -> Result<Self, Error> {
        let slice = Self::allocate(context, length)?;
        slice.buffer.fill(0)?;
        Ok(slice)
    }

    /// New device memory with the elements of a slice.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceSlice;
    /// use arrow_cuda_context::Context;
    ///
    /// let points = DeviceSlice::from_slice(&Context::primary(0)?, &[[0.5f32, 1.0], [1.5, 2.0]])?;
    /// assert_eq!(points.to_vec()?, [[0.5, 1.0], [1.5, 2.0]]);
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the device has no room: `CUDA_ERROR_OUT_OF_MEMORY`; other driver errors.
    pub fn from_slice(context: &Context, data: &[T]) -> Result<Self, Error> {
        let slice = Self::allocate(context, data.len())?;
        slice.copy_from_host(data)?;
        Ok(slice)
    }

    /// The memory of a buffer, as elements.
    ///
    /// ```
    /// use arrow_cuda_buffer::{DeviceBuffer, DeviceSlice};
    /// use arrow_cuda_context::Context;
    ///
    /// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 10)?;
    /// buffer.fill(1)?;
    /// assert_eq!(DeviceSlice::<u16>::from_buffer(buffer.clone())?.to_vec()?, [0x0101; 5]);
    /// assert!(DeviceSlice::<u32>::from_buffer(buffer.clone()).is_err(), "10 is no multiple of 4");
    /// assert!(DeviceSlice::<u16>::from_buffer(buffer.slice(1..5)?).is_err(), "it begins at an odd address");
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a size that is not a multiple of the element's, and for an address that is
    /// not aligned for it.
    pub fn from_buffer(buffer: DeviceBuffer) -> Result<Self, Error> {
        count_of::<T>(&buffer)?;
        Ok(Self::of(buffer))
    }

    fn of(buffer: DeviceBuffer) -> Self {
        Self { buffer, element: PhantomData }
    }

    /// The memory, as bytes.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceSlice;
    /// use arrow_cuda_context::Context;
    ///
    /// let numbers = DeviceSlice::from_slice(&Context::primary(0)?, &[1u16, 2])?;
    /// assert_eq!(numbers.buffer().to_vec()?, [1, 0, 2, 0]);
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    pub fn buffer(&self) -> &DeviceBuffer {
        &self.buffer
    }

    /// The memory, as bytes.
    ///
    /// ```
    /// use arrow_cuda_buffer::{DeviceBuffer, DeviceSlice};
    /// use arrow_cuda_context::Context;
    ///
    /// let numbers = DeviceSlice::from_slice(&Context::primary(0)?, &[1u16, 2])?;
    /// let bytes: DeviceBuffer = numbers.into_buffer();
    /// assert_eq!(bytes.slice(2..)?.to_vec()?, [2, 0]);
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    pub fn into_buffer(self) -> DeviceBuffer {
        self.buffer
    }

    /// The number of elements.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceSlice;
    /// use arrow_cuda_context::Context;
    ///
    /// let numbers = DeviceSlice::from_slice(&Context::primary(0)?, &[1i32, 2, 3])?;
    /// assert_eq!(numbers.len(), 3);
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    pub fn len(&self) -> usize {
        self.buffer.size / Self::SIZE
    }

    /// Whether there are no elements.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceSlice;
    /// use arrow_cuda_context::Context;
    ///
    /// let numbers = DeviceSlice::from_slice(&Context::primary(0)?, &[1i32, 2, 3])?;
    /// assert!(!numbers.is_empty() && numbers.slice(3..)?.is_empty());
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// The elements of a range, which share the memory.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceSlice;
    /// use arrow_cuda_context::Context;
    ///
    /// let numbers = DeviceSlice::from_slice(&Context::primary(0)?, &[1i32, 2, 3])?;
    /// let tail = numbers.slice(1..)?;
    /// tail.copy_from_host(&[20, 30])?;
    /// assert_eq!(numbers.to_vec()?, [1, 20, 30]);
    /// assert!(numbers.slice(2..4).is_err());
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`] when the range does not lie within the slice, or ends before it begins.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<Self, Error> {
        let (start, length) = range::resolved(&range, "elements", self.len())?;
        Ok(Self::of(self.buffer.part(start * Self::SIZE, length * Self::SIZE)))
    }

    /// Copies as many elements as the slice has from the host.
    ///
    /// ```
    /// use arrow_cuda_buffer::{DeviceSlice, Error};
    /// use arrow_cuda_context::Context;
    ///
    /// let numbers = DeviceSlice::allocate(&Context::primary(0)?, 3)?;
    /// numbers.copy_from_host(&[1i32, 2, 3])?;
    /// assert_eq!(numbers.to_vec()?, [1, 2, 3]);
    /// assert!(matches!(numbers.copy_from_host(&[1, 2]), Err(Error::OutOfBounds(_))));
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`] for another number of elements, [`Error::ReadOnly`], or driver errors.
    pub fn copy_from_host(&self, data: &[T]) -> Result<(), Error> {
        self.check_length(data.len())?;
        self.buffer.copy_from_host(must_cast_slice(data))
    }

    /// Copies all elements to the host.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceSlice;
    /// use arrow_cuda_context::Context;
    ///
    /// let numbers = DeviceSlice::from_slice(&Context::primary(0)?, &[1i32, 2, 3])?;
    /// let mut out = [0; 3];
    /// numbers.copy_to_host(&mut out)?;
    /// assert_eq!(out, [1, 2, 3]);
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`] if `out` has another length, or driver errors.
    pub fn copy_to_host(&self, out: &mut [T]) -> Result<(), Error> {
        self.check_length(out.len())?;
        self.buffer.copy_to_host(must_cast_slice_mut(out))
    }

    /// The elements, on the host.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceSlice;
    /// use arrow_cuda_context::Context;
    ///
    /// let numbers = DeviceSlice::from_slice(&Context::primary(0)?, &[1.5f64, 2.5])?;
    /// assert_eq!(numbers.to_vec()?, [1.5, 2.5]);
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] when the host has no room, or driver errors.
    pub fn to_vec(&self) -> Result<Vec<T>, Error> {
        let room = bytemuck::allocation::try_zeroed_slice_box(self.len());
        let mut elements: Box<[T]> = room.map_err(|()| too_large(self.buffer.size))?;
        self.copy_to_host(&mut elements)?;
        Ok(elements.into_vec())
    }

    /// Copies the elements of another slice of this length, which may lie on another device.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceSlice;
    /// use arrow_cuda_context::Context;
    ///
    /// let context = Context::primary(0)?;
    /// let from = DeviceSlice::from_slice(&context, &[1i64, -2])?;
    /// let to = DeviceSlice::allocate(&context, 2)?;
    /// to.copy_from_device(&from)?;
    /// assert_eq!(to.to_vec()?, [1, -2]);
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`] for another length, [`Error::ReadOnly`], or driver errors.
    pub fn copy_from_device(&self, data: &Self) -> Result<(), Error> {
        self.copy_from_device_in(CopyOrder::Now, data).map(drop)
    }

    /// As [`copy_from_device`](Self::copy_from_device), now or on a stream, as
    /// [`DeviceBuffer::copy_from_device_in`].
    ///
    /// ```
    /// use arrow_cuda_buffer::{CopyOrder, DeviceSlice};
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// let stream = Stream::new(&context)?;
    /// let from = DeviceSlice::from_slice(&context, &[1i64, -2])?;
    /// let to = DeviceSlice::allocate(&context, 2)?;
    /// to.copy_from_device_in(CopyOrder::On(&stream), &from)?;
    /// drop(from); // is retained until the copy is made
    /// stream.synchronize()?;
    /// assert_eq!(to.to_vec()?, [1, -2]);
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`] for another length, [`Error::ReadOnly`], [`Error::Invalid`] for a stream of
    /// a third context, or driver errors.
    pub fn copy_from_device_in(
        &self,
        order: CopyOrder<'_>,
        data: &Self,
    ) -> Result<Completed, Error> {
        self.check_length(data.len())?;
        self.buffer.copy_from_device_in(order, 0, &data.buffer)
    }

    fn check_length(&self, length: usize) -> Result<(), Error> {
        if length == self.len() {
            return Ok(());
        }
        Err(Error::OutOfBounds(format!(
            "a device slice of {} elements cannot be copied from or to {length}",
            self.len()
        )))
    }
}

/// How many elements a buffer is, which has to be aligned for them.
pub(crate) fn count_of<T>(buffer: &DeviceBuffer) -> Result<usize, Error> {
    let (size, each) = (buffer.size, size_of::<T>());
    if each == 0 {
        return invalid("elements without a size cannot be counted");
    }
    if !size.is_multiple_of(each) {
        return invalid(format!("{size} bytes are not a multiple of an element's {each} bytes"));
    }
    let (address, alignment) = (buffer.private_address(), align_of::<T>());
    if !address.is_multiple_of(alignment as u64) {
        return invalid(format!(
            "the memory at {address:#x} is not aligned to an element's {alignment} bytes"
        ));
    }
    Ok(size / each)
}

impl<T: Pod> fmt::Debug for DeviceSlice<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceSlice")
            .field("element", &std::any::type_name::<T>())
            .field("len", &self.len())
            .field("buffer", &self.buffer)
            .finish()
    }
}
