//! Conversions from and to the types of `cust`.
//!
//! Its copies without a stream are on the legacy default stream, as work here is, and its streams are ordered with
//! that, whatever their flags: `cust` makes none that is not.  So no conversion has to wait.

use crate::typed::count_of;
use crate::{DeviceBuffer, Error};
use arrow_cuda_context::{Adopted, Context, Pending, Ready, Retained};
use bytemuck::Pod;
use cust::memory::{DeviceCopy, DevicePointer, DeviceSlice};

impl DeviceBuffer {
    /// The memory of a buffer of `cust`, which the result owns from now on.
    ///
    /// The memory is released with the last buffer over it, on any thread.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    ///
    /// let context = Context::primary(0)?;
    /// let current = context.enter()?;
    /// let theirs = cust::memory::DeviceBuffer::from_slice(&[1u16, 2, 3]).expect("room");
    /// let ours = DeviceBuffer::from_cust(&context, theirs)?;
    /// assert_eq!(ours.slice(2..6)?.to_vec()?, [2, 0, 3, 0]);
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`view`](Self::view): `buffer` must be memory of the context's device.
    pub fn from_cust<T>(
        context: &Context,
        buffer: cust::memory::DeviceBuffer<T>,
    ) -> Result<Self, Error>
    where
        T: DeviceCopy + Send + Sync + 'static,
    {
        let address = buffer.as_device_ptr().as_raw();
        let size = buffer.len() * size_of::<T>();
        let owner = Adopted::new(context, "device memory of cust", buffer);
        let arrival = context.take_over(&Pending::DefaultStream)?;
        // SAFETY: cust's buffer has allocated the range, and is owned.
        unsafe { Self::view(context, address, size, true, arrival, Box::new(owner)) }
    }

    /// The address as a pointer of `cust`, for its `launch!` and its own copies.
    ///
    /// As with any pointer, its user must keep the buffer alive, stay within its
    /// [size](Self::len), and write only if [`is_mutable`](Self::is_mutable) allows it.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use cust::memory::{CopyDestination, DeviceSlice};
    ///
    /// let context = Context::primary(0)?;
    /// let buffer = DeviceBuffer::allocate(&context, 8)?;
    /// let current = context.enter()?;
    /// // SAFETY: the buffer holds two numbers, and lives longer than the slice.
    /// let mut numbers = unsafe { DeviceSlice::from_raw_parts_mut(buffer.as_cust_pointer(), 2) };
    /// numbers.copy_from(&[1u32, 2]).expect("a device");
    /// assert_eq!(buffer.to_vec()?, [1, 0, 0, 0, 2, 0, 0, 0]);
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    pub fn as_cust_pointer<T: DeviceCopy>(&self) -> DevicePointer<T> {
        DevicePointer::from_raw(self.address(&Ready::by_caller()))
    }
    /// The memory that a slice of `cust` points to, which `owner` keeps valid.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use std::sync::Arc;
    ///
    /// let context = Context::primary(0)?;
    /// let current = context.enter()?;
    /// let theirs = Arc::new(cust::memory::DeviceBuffer::from_slice(&[1u8, 2, 3]).expect("room"));
    /// // SAFETY: the owner keeps it valid, and nobody writes to it.
    /// let ours = unsafe {
    ///     DeviceBuffer::from_cust_slice(&context, &theirs.index(1..), false, Box::new(Arc::clone(&theirs)))
    /// }?;
    /// assert_eq!(ours.to_vec()?, [2, 3]);
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Safety
    ///
    /// As [`view`](Self::view).
    ///
    /// # Errors
    ///
    /// As [`view`](Self::view).
    pub unsafe fn from_cust_slice<T: DeviceCopy>(
        context: &Context,
        slice: &DeviceSlice<T>,
        is_mutable: bool,
        owner: Retained,
    ) -> Result<Self, Error> {
        let (address, size) = (slice.as_device_ptr().as_raw(), slice.len() * size_of::<T>());
        let arrival = context.take_over(&Pending::DefaultStream)?;
        // SAFETY: guaranteed by the caller.
        unsafe { Self::view(context, address, size, is_mutable, arrival, owner) }
    }

    /// The memory as a slice of `cust`, to be read by its copies and kernels.
    ///
    /// Work on streams that `cust` has made comes after earlier work here, and before later work; a
    /// [non-blocking](arrow_cuda_context::Stream::non_blocking) stream of ours has to wait for events.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceSlice;
    /// use arrow_cuda_context::Context;
    ///
    /// let context = Context::primary(0)?;
    /// let numbers = DeviceSlice::from_slice(&context, &[1.5f32, 2.5])?;
    /// let current = context.enter()?;
    /// // SAFETY: the buffer outlives the slice, which is only read.
    /// let theirs = unsafe { numbers.buffer().as_cust_slice::<f32>() }?;
    /// assert_eq!(theirs.as_host_vec().expect("a device"), [1.5, 2.5]);
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// `cust`'s slices have no lifetime, and can be copied, so safe code gets none:
    ///
    /// ```compile_fail,E0133
    /// # use arrow_cuda_buffer::DeviceBuffer;
    /// # use arrow_cuda_context::Context;
    /// # let buffer = DeviceBuffer::allocate(&Context::primary(0).expect("a device"), 8).expect("room");
    /// let theirs = buffer.as_cust_slice::<f32>();
    /// ```
    ///
    /// # Safety
    ///
    /// Neither the slice nor a copy of it may be used once the buffer was dropped, or its context is gone, nor be
    /// written to.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a size that is not a multiple of the element's, for an address that is not aligned
    /// for it, and for elements without a size; driver errors, for foreign memory that is gone.
    pub unsafe fn as_cust_slice<T>(&self) -> Result<DeviceSlice<T>, Error>
    where
        T: DeviceCopy + Pod,
    {
        let length = count_of::<T>(self)?;
        self.check_memory()?;
        // SAFETY: `length` elements, which the caller keeps valid.
        Ok(unsafe { DeviceSlice::from_raw_parts(self.as_cust_pointer(), length) })
    }

    /// As [`as_cust_slice`](Self::as_cust_slice), to be written to.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use cust::memory::CopyDestination;
    ///
    /// let context = Context::primary(0)?;
    /// let buffer = DeviceBuffer::allocate(&context, 4)?;
    /// let current = context.enter()?;
    /// // SAFETY: the buffer outlives the slice, and nobody else uses it.
    /// unsafe { buffer.as_cust_slice_mut::<u16>() }?.copy_from(&[1, 2]).expect("a device");
    /// assert_eq!(buffer.to_vec()?, [1, 0, 2, 0]);
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Safety
    ///
    /// As for [`as_cust_slice`](Self::as_cust_slice), but that it may be written to, while nobody else uses the memory.
    ///
    /// # Errors
    ///
    /// [`Error::ReadOnly`]; as [`as_cust_slice`](Self::as_cust_slice).
    pub unsafe fn as_cust_slice_mut<T>(&self) -> Result<DeviceSlice<T>, Error>
    where
        T: DeviceCopy + Pod,
    {
        self.check_mutable()?;
        // SAFETY: guaranteed by the caller.
        unsafe { self.as_cust_slice() }
    }
}
