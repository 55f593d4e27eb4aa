//! Conversions from and to the types of `cust`.

use crate::{DeviceBuffer, Error};
use arrow_cuda_context::{Context, CustOwned};
use cust::memory::{DeviceCopy, DevicePointer};

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
    /// assert_eq!(ours.slice(2, 4)?.to_vec()?, [2, 0, 3, 0]);
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
        let size = (buffer.len() * size_of::<T>()) as u64;
        let owner = CustOwned::new(context, "device memory of cust", buffer);
        // SAFETY: cust's buffer has allocated the range, and is owned.
        unsafe { Self::view(context, address, size, true, Box::new(owner)) }
    }

    /// The address as a pointer of `cust`, for its `launch!` and its own copies.
    ///
    /// As with any pointer, its user must keep the buffer alive, stay within its
    /// [`size`](Self::size), and write only if [`is_mutable`](Self::is_mutable) allows it.
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
        DevicePointer::from_raw(self.address())
    }
}
