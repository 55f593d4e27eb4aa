//! Conversions from and to the types of `cudarc`.
//!
//! `cudarc` orders work by streams, and each of its slices belongs to one; work here is on the legacy default
//! stream, unless a call names another.  So a conversion has one side wait for the other.

use crate::typed::count_of;
use crate::{DeviceBuffer, DeviceSlice, Error};
use arrow_cuda_context::{Adopted, Arrival, Consumer, Pending, Ready, Stream};
use arrow_cuda_driver::{CudaError, CudaResult, report_failure};
use bytemuck::Pod;
use cudarc::driver::{CudaSlice, CudaStream, CudaViewMut, DevicePtr, DevicePtrMut, DeviceRepr};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, RangeBounds};
use std::sync::Arc;

/// The memory of a buffer as a slice of `cudarc`, which does not free it.
///
/// The slice's stream has waited for the work on the legacy default stream.  When this is dropped, the legacy default
/// stream waits for the slice's stream, and that for others on which `cudarc` has used the slice.  Nobody waits if it
/// is leaked.
///
/// ```
/// use arrow_cuda_buffer::{CudarcSlice, DeviceSlice};
/// use arrow_cuda_context::Context;
///
/// let context = Context::primary(0)?;
/// let numbers = DeviceSlice::from_slice(&context, &[1i32, 2, 3])?;
/// let stream = context.to_cudarc()?.new_stream()?;
/// let theirs: CudarcSlice<'_, i32> = numbers.as_cudarc(&stream)?;
/// assert_eq!(stream.clone_dtoh(&*theirs)?, [1, 2, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct CudarcSlice<'buffer, T> {
    slice: ManuallyDrop<CudaSlice<T>>,
    stream: Stream,
    buffer: PhantomData<&'buffer DeviceBuffer>,
}

impl<T> Deref for CudarcSlice<'_, T> {
    type Target = CudaSlice<T>;

    fn deref(&self) -> &CudaSlice<T> {
        &self.slice
    }
}

impl<T> Drop for CudarcSlice<'_, T> {
    fn drop(&mut self) {
        let Self { slice, stream, .. } = self;
        stream.context().release("a slice of cudarc", |_| {
            // SAFETY: it is taken here only, once.
            unsafe { ManuallyDrop::take(slice) }.leak();
            Stream::default_of(stream.context()).wait_for(&stream.record()?)
        });
    }
}

/// A [`CudarcSlice`] that can be written to.
///
/// ```
/// use arrow_cuda_buffer::{CudarcSliceMut, DeviceSlice};
/// use arrow_cuda_context::Context;
///
/// let context = Context::primary(0)?;
/// let numbers = DeviceSlice::from_slice(&context, &[1i32, 2, 3])?;
/// let stream = context.to_cudarc()?.new_stream()?;
/// let mut theirs: CudarcSliceMut<'_, i32> = numbers.as_cudarc_mut(&stream)?;
/// stream.memset_zeros(&mut theirs.as_view_mut())?;
/// drop(theirs); // from here on, work of ours comes later
/// assert_eq!(numbers.to_vec()?, [0; 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct CudarcSliceMut<'buffer, T>(CudarcSlice<'buffer, T>);

impl<T> CudarcSliceMut<'_, T> {
    /// The slice for functions that write to it.  (A mutable reference to the slice itself could move it elsewhere,
    /// where it would be freed.)
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceSlice;
    /// use arrow_cuda_context::Context;
    ///
    /// let context = Context::primary(0)?;
    /// let numbers = DeviceSlice::from_slice(&context, &[1i32, 2, 3])?;
    /// let stream = context.to_cudarc()?.new_stream()?;
    /// let mut theirs = numbers.as_cudarc_mut(&stream)?;
    /// stream.memcpy_htod(&[20, 30], &mut theirs.as_view_mut().slice_mut(1..))?;
    /// drop(theirs);
    /// assert_eq!(numbers.to_vec()?, [1, 20, 30]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn as_view_mut(&mut self) -> CudaViewMut<'_, T> {
        self.0.slice.as_view_mut()
    }

    /// A range of the slice, for functions that write to it.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceSlice;
    /// use arrow_cuda_context::Context;
    ///
    /// let context = Context::primary(0)?;
    /// let numbers = DeviceSlice::from_slice(&context, &[1u16, 2, 3])?;
    /// let stream = context.to_cudarc()?.new_stream()?;
    /// let mut theirs = numbers.as_cudarc_mut(&stream)?;
    /// stream.memcpy_htod(&[7, 8], &mut theirs.slice_mut(1..))?;
    /// drop(theirs);
    /// assert_eq!(numbers.to_vec()?, [1, 7, 8]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    ///
    /// For a range that does not lie within the slice, as in `cudarc`.
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> CudaViewMut<'_, T> {
        self.0.slice.slice_mut(range)
    }
}

impl<T> Deref for CudarcSliceMut<'_, T> {
    type Target = CudaSlice<T>;

    fn deref(&self) -> &CudaSlice<T> {
        &self.0
    }
}

/// Memory of `cudarc`, which is freed on its stream, after the work here.
struct Slice<T> {
    _slice: Arc<CudaSlice<T>>,
    stream: Stream,
}

impl<T> Drop for Slice<T> {
    fn drop(&mut self) {
        report_failure("device memory of cudarc", follow(&self.stream).map(drop));
    }
}

/// Has a stream wait for the work here that is on no stream.
fn follow(stream: &Stream) -> CudaResult<Ready> {
    let ready = stream.context().make_ready_for(Consumer::AfterEvent, &[])?;
    ready.event().map_or(Ok(()), |event| stream.wait_for(event))?;
    Ok(ready)
}

impl DeviceBuffer {
    /// The memory of a slice of `cudarc`, which the result owns from now on, after a wait for the work on it.
    ///
    /// The memory is released with the last buffer over it, on any thread, on the slice's stream.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    ///
    /// let stream = Context::primary(0)?.to_cudarc()?.new_stream()?;
    /// let ours = DeviceBuffer::from_cudarc(stream.clone_htod(&[1u16, 2, 3])?)?;
    /// assert_eq!(ours.slice(2..6)?.to_vec()?, [2, 0, 3, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Context::from_cudarc`](arrow_cuda_context::Context::from_cudarc), and errors of the work.
    pub fn from_cudarc<T>(slice: CudaSlice<T>) -> Result<Self, Error>
    where
        T: Send + Sync + 'static,
    {
        Self::of_cudarc(Arc::new(slice), true)
    }

    /// As [`from_cudarc`](Self::from_cudarc), of a slice that others own as well: the result is read-only.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use std::sync::Arc;
    ///
    /// let stream = Context::primary(0)?.to_cudarc()?.new_stream()?;
    /// let theirs = Arc::new(stream.clone_htod(&[1u8, 2, 3])?);
    /// let ours = DeviceBuffer::from_shared_cudarc(Arc::clone(&theirs))?;
    /// assert!(ours.to_vec()? == [1, 2, 3] && !ours.is_mutable());
    /// assert_eq!(stream.clone_dtoh(&*theirs)?, [1, 2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`from_cudarc`](Self::from_cudarc).
    pub fn from_shared_cudarc<T>(slice: Arc<CudaSlice<T>>) -> Result<Self, Error>
    where
        T: Send + Sync + 'static,
    {
        Self::of_cudarc(slice, false)
    }

    fn of_cudarc<T>(mut slice: Arc<CudaSlice<T>>, is_mutable: bool) -> Result<Self, Error>
    where
        T: Send + Sync + 'static,
    {
        let theirs = Arc::clone(slice.stream());
        let stream = Stream::from_cudarc(Arc::clone(&theirs))?;
        let context = stream.context().clone();
        let current = context.enter()?;
        // cudarc has the slice's stream wait for work on others: for reads only if it may be written to.
        let address = match Arc::get_mut(&mut slice).filter(|_| is_mutable) {
            Some(slice) => slice.device_ptr_mut(&theirs).0,
            None => slice.device_ptr(&theirs).0,
        };
        theirs.context().check_err().map_err(CudaError::of_cudarc)?;
        drop(current);
        context.wait_for(&Pending::Event(stream.record()?))?;
        let size = slice.num_bytes();
        let owner = Slice { _slice: slice, stream };
        let owner = Box::new(Adopted::new(&context, "device memory of cudarc", owner));
        // SAFETY: cudarc's slice has allocated the range, and is owned.
        unsafe { Self::view(&context, address, size, is_mutable, Arrival::complete(), owner) }
    }

    /// The memory as a slice of `cudarc` on one of its streams, to be read by its copies and kernels.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceSlice;
    /// use arrow_cuda_context::Context;
    ///
    /// let context = Context::primary(0)?;
    /// let numbers = DeviceSlice::from_slice(&context, &[1.5f32, 2.5])?;
    /// let stream = context.to_cudarc()?.new_stream()?;
    /// let theirs = numbers.buffer().as_cudarc::<f32>(&stream)?;
    /// assert_eq!(stream.clone_dtoh(&theirs.slice(1..))?, [2.5]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a size that is not a multiple of the element's, for an address that is not aligned
    /// for it, for elements without a size, and for a stream of another context; errors of
    /// [`Context::from_cudarc`](arrow_cuda_context::Context::from_cudarc), and those that `cudarc` has kept for its
    /// next call.
    ///
    /// # Panics
    ///
    /// In `cudarc`, when there is no room for its events.
    pub fn as_cudarc<T>(&self, stream: &Arc<CudaStream>) -> Result<CudarcSlice<'_, T>, Error>
    where
        T: DeviceRepr + Pod,
    {
        let length = count_of::<T>(self)?;
        let ours = Stream::from_cudarc(Arc::clone(stream))?;
        if !ours.context().is_same(self.context()) {
            return Err(Error::Invalid(
                "the stream belongs to another context than the buffer".into(),
            ));
        }
        self.check_memory()?;
        let _current = self.context().enter()?;
        let ready = follow(&ours)?;
        stream.context().check_err().map_err(CudaError::of_cudarc)?;
        // SAFETY: `length` elements, of a type for which any bytes are valid; the result does not outlive the
        // buffer, and does not free them.
        let slice = unsafe { stream.upgrade_device_ptr(self.address(&ready), length) };
        Ok(CudarcSlice { slice: ManuallyDrop::new(slice), stream: ours, buffer: PhantomData })
    }

    /// As [`as_cudarc`](Self::as_cudarc), to be written to, as every clone and part of the buffer may be.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    ///
    /// let context = Context::primary(0)?;
    /// let buffer = DeviceBuffer::allocate(&context, 4)?;
    /// let stream = context.to_cudarc()?.new_stream()?;
    /// let mut theirs = buffer.as_cudarc_mut::<u16>(&stream)?;
    /// stream.memcpy_htod(&[1, 2], &mut theirs.as_view_mut())?;
    /// drop(theirs); // from here on, work of ours comes later
    /// assert_eq!(buffer.to_vec()?, [1, 0, 2, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::ReadOnly`]; as [`as_cudarc`](Self::as_cudarc).
    ///
    /// # Panics
    ///
    /// As [`as_cudarc`](Self::as_cudarc).
    pub fn as_cudarc_mut<T>(&self, stream: &Arc<CudaStream>) -> Result<CudarcSliceMut<'_, T>, Error>
    where
        T: DeviceRepr + Pod,
    {
        self.check_mutable()?;
        Ok(CudarcSliceMut(self.as_cudarc(stream)?))
    }
}

/// As [`DeviceBuffer::from_cudarc`].
impl<T: Send + Sync + 'static> TryFrom<CudaSlice<T>> for DeviceBuffer {
    type Error = Error;

    fn try_from(slice: CudaSlice<T>) -> Result<Self, Error> {
        Self::from_cudarc(slice)
    }
}

/// As [`DeviceBuffer::from_cudarc`].
impl<T: Pod> TryFrom<CudaSlice<T>> for DeviceSlice<T>
where
    T: Send + Sync,
{
    type Error = Error;

    fn try_from(slice: CudaSlice<T>) -> Result<Self, Error> {
        Self::from_buffer(DeviceBuffer::from_cudarc(slice)?)
    }
}

impl<T: DeviceRepr + Pod> DeviceSlice<T> {
    /// The elements as a slice of `cudarc`: see [`DeviceBuffer::as_cudarc`].
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceSlice;
    /// use arrow_cuda_context::Context;
    ///
    /// let stream = Context::primary(0)?.to_cudarc()?.new_stream()?;
    /// let ours = DeviceSlice::try_from(stream.clone_htod(&[1i64, 2])?)?;
    /// assert_eq!(stream.clone_dtoh(&*ours.as_cudarc(&stream)?)?, [1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`DeviceBuffer::as_cudarc`].
    pub fn as_cudarc(&self, stream: &Arc<CudaStream>) -> Result<CudarcSlice<'_, T>, Error> {
        self.buffer().as_cudarc(stream)
    }

    /// The elements as a slice of `cudarc` to be written to: see [`DeviceBuffer::as_cudarc_mut`].
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceSlice;
    /// use arrow_cuda_context::Context;
    ///
    /// let context = Context::primary(0)?;
    /// let numbers = DeviceSlice::from_slice(&context, &[1i64, 2])?;
    /// let stream = context.to_cudarc()?.new_stream()?;
    /// let mut theirs = numbers.as_cudarc_mut(&stream)?;
    /// stream.memcpy_htod(&[3, 4], &mut theirs.as_view_mut())?;
    /// drop(theirs); // from here on, work of ours comes later
    /// assert_eq!(numbers.to_vec()?, [3, 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`DeviceBuffer::as_cudarc_mut`].
    pub fn as_cudarc_mut(&self, stream: &Arc<CudaStream>) -> Result<CudarcSliceMut<'_, T>, Error> {
        self.buffer().as_cudarc_mut(stream)
    }
}
