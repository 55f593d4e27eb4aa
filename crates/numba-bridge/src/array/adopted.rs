//! Arrays in memory that `cust` and `cudarc` have allocated.

use crate::error::invalid;
use crate::{Error, StridedArray, StridedLayout};
use arrow_cuda_buffer::DeviceBuffer;

impl StridedArray {
    /// An array in a buffer of `cust`, which the result owns from now on, and with it each tensor or view of it.
    ///
    /// ```
    /// use arrow_cuda_context::{Consumer, Context};
    /// use arrow_cuda_numba_bridge::array_interface::ArrayInterface;
    /// use arrow_cuda_numba_bridge::dlpack::Tensor;
    /// use arrow_cuda_numba_bridge::{StridedArray, ElementType, StridedLayout};
    ///
    /// let context = Context::primary(0)?;
    /// let current = context.enter()?;
    /// let theirs = cust::memory::DeviceBuffer::from_slice(&[1f32, 2., 3., 4., 5., 6.]).expect("room");
    /// let layout = StridedLayout::row_major(ElementType::float(4), vec![2, 3])?;
    /// let array = StridedArray::from_cust(&context, theirs, layout)?;
    ///
    /// let ready = context.make_ready_for(Consumer::Unknown, &[])?;
    /// assert_eq!(ArrayInterface::of(&array, &ready).shape, [2, 3]); // `__cuda_array_interface__`
    /// let memory = (array.buffer().clone(), ready).into();
    /// let tensor = Tensor::new(memory, array.layout().clone())?; // DLPack's
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for elements of another size than `T`'s, and for a layout that exceeds the buffer; those of
    /// [`DeviceBuffer::from_cust`].
    #[cfg(feature = "cust")]
    pub fn from_cust<T>(
        context: &arrow_cuda_context::Context,
        buffer: cust::memory::DeviceBuffer<T>,
        layout: StridedLayout,
    ) -> Result<Self, Error>
    where
        T: cust::memory::DeviceCopy + Send + Sync + 'static,
    {
        check_element::<T>(&layout)?;
        Self::new(&DeviceBuffer::from_cust(context, buffer)?, 0, layout)
    }

    /// An array in a slice of `cudarc`, which the result owns from now on, after a wait for the work on it.
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_numba_bridge::{StridedArray, ElementType, Index, StridedLayout, Order};
    ///
    /// let stream = Context::primary(0)?.to_cudarc()?.new_stream()?;
    /// let theirs = stream.clone_htod(&[1u8, 2, 3, 4, 5, 6])?;
    /// let layout = StridedLayout::row_major(ElementType::uint(1), vec![2, 3])?;
    /// let array = StridedArray::from_cudarc(theirs, layout)?;
    /// assert_eq!(array.index(&[Index::Rest, Index::At(1)])?.to_vec(Order::C)?, [2, 5]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`StridedArray::from_cust`]; those of [`DeviceBuffer::from_cudarc`].
    #[cfg(feature = "cudarc")]
    pub fn from_cudarc<T>(
        slice: cudarc::driver::CudaSlice<T>,
        layout: StridedLayout,
    ) -> Result<Self, Error>
    where
        T: Send + Sync + 'static,
    {
        check_element::<T>(&layout)?;
        Self::new(&DeviceBuffer::from_cudarc(slice)?, 0, layout)
    }
}

fn check_element<T>(layout: &StridedLayout) -> Result<(), Error> {
    let (told, size) = (layout.element(), size_of::<T>());
    match u64::from(told.size()) == size as u64 {
        true => Ok(()),
        false => invalid(format!("elements of {size} bytes are not of the type '{told}'")),
    }
}
