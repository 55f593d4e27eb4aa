//! Copies on streams: queued, and carried out when their turn comes.
//!
//! A call returns when the copy is queued.  What it reads and writes is kept until it is over
//! ([`Stream::enqueue`]); the results are what was kept for earlier copies that are over by now.

use crate::copy::too_large;
use crate::{DeviceBuffer, Error, range};
use arrow_cuda_context::{Finished, Kept, Stream};
use arrow_cuda_driver::call;

impl DeviceBuffer {
    /// Fails for a stream that belongs to another context.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`].
    pub fn check_stream(&self, stream: &Stream) -> Result<(), Error> {
        check_stream(stream, &[self])
    }

    /// Queues a copy of `size` bytes from `position` on to the host.
    ///
    /// # Safety
    ///
    /// `out` must be writable for `size` bytes as long as `owner` lives, and nobody may use those
    /// bytes before the stream has made the copy.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`], [`Error::Invalid`] for a stream of another context, or the driver's.
    pub unsafe fn queue_copy_to_host(
        &self,
        stream: &Stream,
        position: u64,
        out: *mut u8,
        size: usize,
        owner: Kept,
    ) -> Result<Finished, Error> {
        check_stream(stream, &[self])?;
        if !self.gives(position, size as u64)? {
            return Ok(Finished::default());
        }
        let from = self.address + position;
        Ok(stream.enqueue(Box::new((self.clone(), owner)), |stream| {
            // SAFETY: the caller's promise, and the range was checked; both ends are kept.
            unsafe { call!(cuMemcpyDtoHAsync_v2(out.cast(), from, size, stream)) }
        })?)
    }

    /// Queues a copy of `size` bytes from the host into the buffer, from `position` on.
    ///
    /// # Safety
    ///
    /// `data` must be readable for `size` bytes as long as `owner` lives, and nobody may change
    /// those bytes before the stream has made the copy.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`], [`Error::ReadOnly`], [`Error::Invalid`] for a stream of another
    /// context, or the driver's.
    pub unsafe fn queue_copy_from_host(
        &self,
        stream: &Stream,
        position: u64,
        data: *const u8,
        size: usize,
        owner: Kept,
    ) -> Result<Finished, Error> {
        check_stream(stream, &[self])?;
        if !self.takes(position, size as u64)? {
            return Ok(Finished::default());
        }
        let to = self.address + position;
        Ok(stream.enqueue(Box::new((self.clone(), owner)), |stream| {
            // SAFETY: the caller's promise, and the range was checked; both ends are kept.
            unsafe { call!(cuMemcpyHtoDAsync_v2(to, data.cast_mut().cast(), size, stream)) }
        })?)
    }

    /// Queues a copy of another buffer, which may lie on another device, into this one.  The stream
    /// may be of the context of either.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`], [`Error::ReadOnly`], [`Error::Invalid`] for a stream of a third
    /// context, or the driver's.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// let stream = Stream::new(&context)?;
    /// let from = DeviceBuffer::allocate(&context, 4)?;
    /// let to = DeviceBuffer::allocate(&context, 4)?;
    /// from.queue_fill(&stream, b'x')?;
    /// to.queue_copy_from_device(&stream, 0, &from)?;
    /// drop(from); // is kept until the copy is made
    /// stream.synchronize()?;
    /// assert_eq!(to.to_vec()?, b"xxxx");
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    pub fn queue_copy_from_device(
        &self,
        stream: &Stream,
        position: u64,
        data: &Self,
    ) -> Result<Finished, Error> {
        check_stream(stream, &[self, data])?;
        if !self.takes(position, data.size)? {
            return Ok(Finished::default());
        }
        data.check_alive()?;
        let (to, from) = (self.context(), data.context());
        let (target, source) = (self.address + position, data.address);
        let size = usize::try_from(data.size).map_err(|_| too_large(data.size))?;
        if range::overlap(target, source, data.size) {
            // The driver leaves the outcome open; a detour through other memory does not.
            let detour = Self::allocate_packed(from, data.size)?;
            let mut finished = detour.queue_copy_from_device(stream, 0, data)?;
            finished.extend(self.queue_copy_from_device(stream, position, &detour)?);
            return Ok(finished);
        }
        let kept = Box::new((self.clone(), data.clone()));
        if to.is_same(from) {
            return Ok(stream.enqueue(kept, |stream| {
                // SAFETY: both ranges were checked, and are kept.
                unsafe { call!(cuMemcpyDtoDAsync_v2(target, source, size, stream)) }
            })?);
        }
        to.check_alive()?;
        from.check_alive()?;
        let (to, from) = (to.handle() as *mut _, from.handle() as *mut _);
        Ok(stream.enqueue(kept, |stream| {
            // SAFETY: both ranges were checked, and are kept; their contexts are alive.
            unsafe { call!(cuMemcpyPeerAsync(target, to, source, from, size, stream)) }
        })?)
    }

    /// Queues that every byte is set to `value`.
    ///
    /// # Errors
    ///
    /// [`Error::ReadOnly`], [`Error::Invalid`] for a stream of another context, or the driver's.
    pub fn queue_fill(&self, stream: &Stream, value: u8) -> Result<Finished, Error> {
        check_stream(stream, &[self])?;
        if !self.takes(0, self.size)? {
            return Ok(Finished::default());
        }
        let size = usize::try_from(self.size).map_err(|_| too_large(self.size))?;
        Ok(stream.enqueue(Box::new(self.clone()), |stream| {
            // SAFETY: the buffer's whole range, which is kept.
            unsafe { call!(cuMemsetD8Async(self.address, value, size, stream)) }
        })?)
    }
}

/// Refuses a stream that belongs to the context of none of the buffers.
fn check_stream(stream: &Stream, buffers: &[&DeviceBuffer]) -> Result<(), Error> {
    if buffers.iter().any(|buffer| buffer.context().is_same(stream.context())) {
        return Ok(());
    }
    let of = |context: &arrow_cuda_context::Context| {
        format!("{:#x} on device {}", context.handle(), context.device().number())
    };
    Err(Error::Invalid(format!(
        "the stream belongs to context {}, the buffer to context {}",
        of(stream.context()),
        of(buffers[0].context())
    )))
}
