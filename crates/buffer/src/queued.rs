//! Copies that are queued on streams.
//!
//! A call returns when the copy is queued, except for pageable host memory (`arrow_cuda_transfer`
//! explains why).  The owners of what a copy reads and writes are retained while it is in flight
//! ([`Stream::enqueue`]); the results are the owners of earlier work that is complete by now.

use crate::copy::too_large;
use crate::{DeviceBuffer, Error, range};
use arrow_cuda_context::{Completed, Context, Retained, Stream};
use arrow_cuda_transfer as transfer;

impl DeviceBuffer {
    /// Copies `size` bytes from `position` on to the host, in the order of a stream.
    ///
    /// # Safety
    ///
    /// `out` must be writable for `size` bytes as long as `owner` lives, and nobody may use those
    /// bytes before the stream has made the copy.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`], [`Error::Invalid`] for a stream of another context, or driver errors.
    pub unsafe fn queue_copy_to_host(
        &self,
        stream: &Stream,
        position: u64,
        out: *mut u8,
        size: usize,
        owner: Retained,
    ) -> Result<Completed, Error> {
        check_stream(stream, &[self])?;
        if !self.check_readable(position, size as u64)? {
            return Ok(Completed::default());
        }
        let (from, owner) = (self.private_address + position, Box::new((self.clone(), owner)));
        // SAFETY: guaranteed by the caller, and the range was checked; both ends are retained.
        let queued = unsafe { transfer::queue_copy_to_host(stream, out, from, size, owner) };
        Ok(self.settle(queued)?)
    }

    /// Copies `size` bytes of the host into the buffer, from `position` on, in the order of a stream.
    ///
    /// # Safety
    ///
    /// `data` must be readable for `size` bytes as long as `owner` lives, and nobody may change
    /// those bytes before the stream has made the copy.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`], [`Error::ReadOnly`], [`Error::Invalid`] for a stream of another
    /// context, or driver errors.
    pub unsafe fn queue_copy_from_host(
        &self,
        stream: &Stream,
        position: u64,
        data: *const u8,
        size: usize,
        owner: Retained,
    ) -> Result<Completed, Error> {
        check_stream(stream, &[self])?;
        if !self.check_writable(position, size as u64)? {
            return Ok(Completed::default());
        }
        let (to, owner) = (self.private_address + position, Box::new((self.clone(), owner)));
        // SAFETY: guaranteed by the caller, and the range was checked; both ends are retained.
        let queued = unsafe { transfer::queue_copy_from_host(stream, to, data, size, owner) };
        Ok(self.settle(queued)?)
    }

    /// Queues a copy of another buffer, which may lie on another device, into this one.  The stream
    /// may belong to the context of either.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`], [`Error::ReadOnly`], [`Error::Invalid`] for a stream of a third
    /// context, or driver errors.
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
    /// drop(from); // is retained until the copy is made
    /// stream.synchronize()?;
    /// assert_eq!(to.to_vec()?, b"xxxx");
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    pub fn queue_copy_from_device(
        &self,
        stream: &Stream,
        position: u64,
        data: &Self,
    ) -> Result<Completed, Error> {
        check_stream(stream, &[self, data])?;
        if !self.check_writable(position, data.size)? {
            return Ok(Completed::default());
        }
        data.check_memory()?;
        let (to, from) = (self.context(), data.context());
        let (target, source) = (self.private_address + position, data.private_address);
        let size = usize::try_from(data.size).map_err(|_| too_large(data.size))?;
        if range::overlap(target, source, data.size) {
            // The driver does not define overlapping copies; a temporary buffer makes them safe.
            let detour = Self::allocate_own(from, data.size)?;
            let mut finished = detour.queue_copy_from_device(stream, 0, data)?;
            finished.extend(self.queue_copy_from_device(stream, position, &detour)?);
            return Ok(finished);
        }
        let retained = Box::new((self.clone(), data.clone()));
        Ok(stream.enqueue(retained, |current, stream| {
            // SAFETY: both ranges were checked and do not overlap; both buffers are retained.
            unsafe { current.queue_copy_between((target, to), (source, from), size, stream) }
        })?)
    }

    /// Queues a fill that sets every byte to `value`.
    ///
    /// # Errors
    ///
    /// [`Error::ReadOnly`], [`Error::Invalid`] for a stream of another context, or driver errors.
    pub fn queue_fill(&self, stream: &Stream, value: u8) -> Result<Completed, Error> {
        check_stream(stream, &[self])?;
        if !self.check_writable(0, self.size)? {
            return Ok(Completed::default());
        }
        let size = usize::try_from(self.size).map_err(|_| too_large(self.size))?;
        Ok(stream.enqueue(Box::new(self.clone()), |current, stream| {
            // SAFETY: the buffer's whole range, which is retained.
            unsafe { current.queue_fill(self.private_address, value, size, stream) }
        })?)
    }
}

/// Refuses a stream that belongs to none of the buffers' contexts.
pub(crate) fn check_stream(stream: &Stream, buffers: &[&DeviceBuffer]) -> Result<(), Error> {
    let contexts: Vec<_> = buffers.iter().map(|buffer| buffer.context()).collect();
    check_stream_of(stream, &contexts)
}

/// Refuses a stream that belongs to none of the contexts of buffers.
pub(crate) fn check_stream_of(stream: &Stream, contexts: &[&Context]) -> Result<(), Error> {
    let [first, ..] = contexts else { return Ok(()) };
    if contexts.iter().any(|context| context.is_same(stream.context())) {
        return Ok(());
    }
    let of = |context: &Context| {
        format!("{:#x} on device {}", context.handle(), context.device().number())
    };
    Err(Error::Invalid(format!(
        "the stream belongs to context {}, the buffer to context {}",
        of(stream.context()),
        of(first)
    )))
}
