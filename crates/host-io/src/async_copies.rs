//! Asynchronous copies between pinned memory and device buffers, on streams.

use arrow_cuda_buffer::{CopyOrder, DeviceBuffer, Error};
use arrow_cuda_context::{Completed, Event, Retained, Stream};
use arrow_cuda_transfer::HostBuffer;
use std::sync::Arc;

/// Queues a copy of pinned memory into a buffer, from `position` on, and retains both.
///
/// ```
/// use arrow_cuda_buffer::DeviceBuffer;
/// use arrow_cuda_context::{Context, Stream};
/// use arrow_cuda_host_io::{HostBuffer, queue_download, queue_upload};
/// use std::sync::Arc;
///
/// let context = Context::primary(0)?;
/// let stream = Stream::new(&context)?;
/// let buffer = DeviceBuffer::allocate(&context, 4)?;
/// let mut pinned = HostBuffer::allocate(&context, 4)?;
/// pinned.as_mut_slice().copy_from_slice(b"data");
/// queue_upload(&stream, &buffer, 0, Arc::new(pinned))?;
/// let download = queue_download(&stream, &buffer, 0, HostBuffer::allocate(&context, 4)?)?;
/// assert_eq!(download.wait()?.as_slice(), b"data");
/// # Ok::<(), arrow_cuda_buffer::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::OutOfBounds`], [`Error::ReadOnly`], [`Error::Invalid`] for a stream of another context,
/// or driver errors.
pub fn queue_upload(
    stream: &Stream,
    buffer: &DeviceBuffer,
    position: usize,
    data: Arc<HostBuffer>,
) -> Result<Completed, Error> {
    let (address, size) = (data.private_ptr().cast_const(), data.size());
    // SAFETY: pinned memory, which the queued copy retains; nobody can write to it while it is
    // shared.
    unsafe {
        let order = CopyOrder::On(stream);
        buffer.copy_from_host_in(order, position, address, size, || Box::new(data))
    }
}

/// A queued copy to pinned memory, from [`queue_download`].
///
/// ```
/// use arrow_cuda_buffer::DeviceBuffer;
/// use arrow_cuda_context::{Context, Stream};
/// use arrow_cuda_host_io::{Download, HostBuffer, queue_download};
///
/// let context = Context::primary(0)?;
/// let buffer = DeviceBuffer::gathered(&context, &[b"data"])?;
/// let out = HostBuffer::allocate(&context, 4)?;
/// let download: Download = queue_download(&Stream::new(&context)?, &buffer, 0, out)?;
/// assert_eq!(download.wait()?.as_slice(), b"data");
/// # Ok::<(), arrow_cuda_buffer::Error>(())
/// ```
#[derive(Debug)]
pub struct Download {
    memory: Arc<HostBuffer>,
    end: Event,
}

/// Queues a copy from a buffer, from `position` on, that fills pinned memory.
///
/// [`Download::wait`] returns the memory.  Dropping the result does not wait: the copy is made all
/// the same, and the memory is retained until then.
///
/// ```
/// use arrow_cuda_buffer::DeviceBuffer;
/// use arrow_cuda_context::{Context, Stream};
/// use arrow_cuda_host_io::{HostBuffer, queue_download};
///
/// let context = Context::primary(0)?;
/// let stream = Stream::new(&context)?;
/// let buffer = DeviceBuffer::gathered(&context, &[b"abcd"])?;
/// let download = queue_download(&stream, &buffer, 1, HostBuffer::allocate(&context, 2)?)?;
/// assert_eq!(download.wait()?.as_slice(), b"bc");
/// # Ok::<(), arrow_cuda_buffer::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::OutOfBounds`], [`Error::Invalid`] for a stream of another context, or driver errors.
pub fn queue_download(
    stream: &Stream,
    buffer: &DeviceBuffer,
    position: usize,
    out: HostBuffer,
) -> Result<Download, Error> {
    let (address, size) = (out.private_ptr(), out.size());
    let memory = Arc::new(out);
    let (order, owner) = (CopyOrder::On(stream), || -> Retained { Box::new(Arc::clone(&memory)) });
    // SAFETY: pinned memory, which the queued copy retains; nobody gets it back before the copy is
    // complete.
    drop(unsafe { buffer.copy_to_host_in(order, position, address, size, owner) }?);
    Ok(Download { memory, end: stream.record()? })
}

impl Download {
    /// Whether the copy is complete.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::{Context, Stream};
    /// use arrow_cuda_host_io::{HostBuffer, queue_download};
    ///
    /// let context = Context::primary(0)?;
    /// let stream = Stream::new(&context)?;
    /// let buffer = DeviceBuffer::gathered(&context, &[b"data"])?;
    /// let download = queue_download(&stream, &buffer, 0, HostBuffer::allocate(&context, 4)?)?;
    /// stream.synchronize()?;
    /// assert!(download.is_complete()?);
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors, including those of the copy.
    pub fn is_complete(&self) -> Result<bool, Error> {
        Ok(self.end.is_complete()?)
    }

    /// Blocks until the copy is complete, and returns the memory.
    ///
    /// ```
    /// use arrow_cuda_buffer::{CopyOrder, DeviceBuffer};
    /// use arrow_cuda_context::{Context, Stream};
    /// use arrow_cuda_host_io::{HostBuffer, queue_download};
    ///
    /// let context = Context::primary(0)?;
    /// let stream = Stream::new(&context)?;
    /// let buffer = DeviceBuffer::allocate(&context, 3)?;
    /// buffer.fill_in(CopyOrder::On(&stream), 7)?;
    /// let download = queue_download(&stream, &buffer, 0, HostBuffer::allocate(&context, 3)?)?;
    /// assert_eq!(download.wait()?.as_slice(), [7; 3]);
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors, including those of the copy.
    pub fn wait(self) -> Result<Arc<HostBuffer>, Error> {
        drop(self.end.synchronize()?);
        Ok(self.memory)
    }
}
