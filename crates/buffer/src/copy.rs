//! Copies from, to and between device buffers, in any order.
//!
//! Each operation is written once, as a function that takes a [`CopyOrder`], and whose name ends in `_in`.  The
//! function without `_in` makes the copy now, and needs no owners.

use crate::error::invalid;
use crate::{DeviceBuffer, Error, range};
use arrow_cuda_context::{Block, Completed, Context, Placement, Retained};
use arrow_cuda_transfer::{self as transfer, CopyOrder, DevicePlace};
use std::mem::MaybeUninit;

impl DeviceBuffer {
    /// Copies `out.len()` bytes from `position` on to the host.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    ///
    /// let buffer = DeviceBuffer::gathered(&Context::primary(0)?, &[b"abcdef"])?;
    /// let mut bytes = [0; 3];
    /// buffer.slice(2..5)?.copy_to_host(&mut bytes)?;
    /// assert_eq!(&bytes, b"cde");
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`] if `out` has another size, or driver errors.
    pub fn copy_to_host(&self, out: &mut [u8]) -> Result<(), Error> {
        // SAFETY: the copy only ever stores initialised bytes.
        let out = unsafe { &mut *(std::ptr::from_mut(out) as *mut [MaybeUninit<u8>]) };
        self.copy_to_uninit(out)
    }

    /// As [`copy_to_host`](Self::copy_to_host), into memory that nobody has written to yet.
    /// All of it is initialised when the call succeeds.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    ///
    /// let buffer = DeviceBuffer::gathered(&Context::primary(0)?, &[b"abcdef"])?;
    /// let mut bytes = Vec::with_capacity(3);
    /// buffer.slice(2..5)?.copy_to_uninit(&mut bytes.spare_capacity_mut()[..3])?;
    /// // SAFETY: the copy has initialised them.
    /// unsafe { bytes.set_len(3) };
    /// assert_eq!(bytes, b"cde");
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`] if `out` has another size, or driver errors.
    pub fn copy_to_uninit(&self, out: &mut [MaybeUninit<u8>]) -> Result<(), Error> {
        let (address, size) = (out.as_mut_ptr().cast(), out.len());
        self.check_length(size)?;
        // SAFETY: the memory is borrowed until the call returns, and so is the copy complete.
        unsafe { self.copy_to_host_in(CopyOrder::Now, 0, address, size, unowned) }.map(drop)
    }

    /// Copies `size` bytes from `position` on to the host.
    ///
    /// A queued copy retains the buffer, and the `owner` of `out`, until it is complete; no other copy
    /// asks for an owner.  The result holds the owners of earlier work that is complete by now.
    ///
    /// ```
    /// use arrow_cuda_buffer::{CopyOrder, DeviceBuffer};
    /// use arrow_cuda_context::{Context, Stream};
    /// use arrow_cuda_transfer::HostBuffer;
    /// use std::sync::Arc;
    ///
    /// let context = Context::primary(0)?;
    /// let stream = Stream::new(&context)?;
    /// let buffer = DeviceBuffer::gathered(&context, &[b"abcdef"])?;
    /// let pinned = Arc::new(HostBuffer::allocate(&context, 3)?);
    /// let owner = || -> arrow_cuda_context::Retained { Box::new(Arc::clone(&pinned)) };
    /// // SAFETY: the owner keeps the memory, which nobody uses before the copy is made.
    /// unsafe {
    ///     buffer.copy_to_host_in(CopyOrder::On(&stream), 2, pinned.private_ptr(), 3, owner)?;
    /// }
    /// stream.synchronize()?;
    /// assert_eq!(pinned.as_slice(), b"cde");
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Safety
    ///
    /// `out` must be writable for `size` bytes until the call returns, and as long as the owner lives.
    /// Nobody may use those bytes before a stream has made the copy.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`], [`Error::Invalid`] for a stream of another context, or driver errors.
    pub unsafe fn copy_to_host_in(
        &self,
        order: CopyOrder<'_>,
        position: usize,
        out: *mut u8,
        size: usize,
        owner: impl FnOnce() -> Retained,
    ) -> Result<Completed, Error> {
        begin(order, &[self])?;
        if !self.check_readable(position, size)? {
            return Ok(Completed::default());
        }
        let address = self.private_address + position as u64;
        let (context, from) = (self.context(), DevicePlace { address, block: self.block() });
        let owners = || -> Retained { Box::new((self.clone(), owner())) };
        // SAFETY: guaranteed by the caller, and the range was checked; both ends are retained, and a block that a
        // failed copy has exposed is not released before the device has left it.
        let copied = unsafe { transfer::copy_to_host_in(order, context, out, from, size, owners) };
        self.expose_on_failure(copied)
    }

    /// Copies as many bytes as the buffer has from the host.
    ///
    /// ```
    /// use arrow_cuda_buffer::{DeviceBuffer, Error};
    /// use arrow_cuda_context::Context;
    ///
    /// let buffer = DeviceBuffer::gathered(&Context::primary(0)?, &[b"abcdef"])?;
    /// buffer.slice(2..4)?.copy_from_host(b"--")?;
    /// assert_eq!(buffer.to_vec()?, b"ab--ef");
    /// assert!(matches!(buffer.copy_from_host(b"--"), Err(Error::OutOfBounds(_))));
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`] for another number of bytes, [`Error::ReadOnly`], or driver errors.
    pub fn copy_from_host(&self, data: &[u8]) -> Result<(), Error> {
        let (address, size) = (data.as_ptr(), data.len());
        self.check_length(size)?;
        // SAFETY: the bytes are borrowed until the call returns, and so is the copy complete.
        unsafe { self.copy_from_host_in(CopyOrder::Now, 0, address, size, unowned) }.map(drop)
    }

    /// Copies `size` bytes of the host into the buffer, from `position` on.
    ///
    /// A queued copy retains the buffer, and the `owner` of `data`, until it is complete; no other copy
    /// asks for an owner.  The result holds the owners of earlier work that is complete by now.
    ///
    /// ```
    /// use arrow_cuda_buffer::{CopyOrder, DeviceBuffer};
    /// use arrow_cuda_context::{Context, Stream};
    /// use arrow_cuda_transfer::HostBuffer;
    ///
    /// let context = Context::primary(0)?;
    /// let stream = Stream::new(&context)?;
    /// let buffer = DeviceBuffer::gathered(&context, &[b"abcdef"])?;
    /// let mut pinned = HostBuffer::allocate(&context, 2)?;
    /// pinned.as_mut_slice().fill(b'-');
    /// // SAFETY: the owner keeps the memory, which nobody changes.
    /// unsafe {
    ///     let data = pinned.private_ptr().cast_const();
    ///     buffer.copy_from_host_in(CopyOrder::On(&stream), 2, data, 2, || Box::new(pinned))?;
    /// }
    /// stream.synchronize()?;
    /// assert_eq!(buffer.to_vec()?, b"ab--ef");
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Safety
    ///
    /// `data` must be readable for `size` bytes until the call returns, and as long as the owner lives.
    /// Nobody may change those bytes before a stream has made the copy.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`], [`Error::ReadOnly`], [`Error::Invalid`] for a stream of another context,
    /// or driver errors.
    pub unsafe fn copy_from_host_in(
        &self,
        order: CopyOrder<'_>,
        position: usize,
        data: *const u8,
        size: usize,
        owner: impl FnOnce() -> Retained,
    ) -> Result<Completed, Error> {
        begin(order, &[self])?;
        if !self.check_writable(position, size)? {
            return Ok(Completed::default());
        }
        let address = self.private_address + position as u64;
        let (context, to) = (self.context(), DevicePlace { address, block: self.block() });
        let owners = || -> Retained { Box::new((self.clone(), owner())) };
        // SAFETY: guaranteed by the caller, and the range was checked; both ends are retained.
        let copied = unsafe { transfer::copy_from_host_in(order, context, to, data, size, owners) };
        self.expose_on_failure(copied)
    }

    /// Copies another buffer of the same size, which may lie on another device, into this one.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    ///
    /// let context = Context::primary(0)?;
    /// let to = DeviceBuffer::gathered(&context, &[b"abcdef"])?;
    /// to.slice(2..4)?.copy_from_device(&DeviceBuffer::gathered(&context, &[b"--"])?)?;
    /// assert_eq!(to.to_vec()?, b"ab--ef");
    /// to.slice(1..)?.copy_from_device(&to.slice(..5)?)?; // the two may overlap
    /// assert_eq!(to.to_vec()?, b"aab--e");
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`] for another size, [`Error::ReadOnly`], or driver errors.
    pub fn copy_from_device(&self, data: &Self) -> Result<(), Error> {
        self.check_length(data.size)?;
        self.copy_from_device_in(CopyOrder::Now, 0, data).map(drop)
    }

    /// As [`copy_from_device`](Self::copy_from_device), now or on a stream, which may belong to the
    /// context of either buffer.  A queued copy retains both.  The result holds the owners of earlier
    /// work that is complete by now.
    ///
    /// ```
    /// use arrow_cuda_buffer::{CopyOrder, DeviceBuffer};
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// let stream = Stream::new(&context)?;
    /// let from = DeviceBuffer::allocate(&context, 4)?;
    /// let to = DeviceBuffer::allocate(&context, 4)?;
    /// from.fill_in(CopyOrder::On(&stream), b'x')?;
    /// to.copy_from_device_in(CopyOrder::On(&stream), 0, &from)?;
    /// drop(from); // is retained until the copy is made
    /// stream.synchronize()?;
    /// assert_eq!(to.to_vec()?, b"xxxx");
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`], [`Error::ReadOnly`], [`Error::Invalid`] for a stream of a third
    /// context, or driver errors.
    pub fn copy_from_device_in(
        &self,
        order: CopyOrder<'_>,
        position: usize,
        data: &Self,
    ) -> Result<Completed, Error> {
        begin(order, &[self, data])?;
        if !self.check_writable(position, data.size)? {
            return Ok(Completed::default());
        }
        data.check_memory()?;
        let (to, from) = (self.private_address + position as u64, data.private_address);
        if range::overlap(to, from, data.size) {
            // The driver does not define overlapping copies; a temporary buffer makes them safe.  It is the
            // context's own memory, whatever allocator the program has set: for a short time.
            let detour = Block::allocate(data.context(), data.size as u64, Placement::Packed)?;
            let detour = Self::of_block(detour);
            let mut completed = detour.copy_from_device_in(order, 0, data)?;
            completed.extend(self.copy_from_device_in(order, position, &detour)?);
            return Ok(completed);
        }
        let (target, source) = ((to, self.context()), (from, data.context()));
        match order {
            CopyOrder::Now => {
                let current = data.context().enter()?;
                // SAFETY: both ranges were checked and do not overlap; both buffers own their memory.
                let copied = unsafe { current.copy_to_context(target, from, data.size) };
                self.expose_on_failure(data.expose_on_failure(copied))?;
                Ok(Completed::default())
            }
            CopyOrder::On(stream) => {
                let owners = Box::new((self.clone(), data.clone()));
                let queued = stream.enqueue(owners, |current, stream| {
                    // SAFETY: as above; both buffers are retained.
                    unsafe { current.queue_copy_between(target, source, data.size, stream) }
                });
                self.expose_on_failure(data.expose_on_failure(queued))
            }
        }
    }

    fn check_length(&self, length: usize) -> Result<(), Error> {
        if length == self.size {
            return Ok(());
        }
        Err(Error::OutOfBounds(format!(
            "a buffer of {} bytes cannot be copied from or to {length}; copy a slice() of it",
            self.size
        )))
    }

    /// A new buffer with the same bytes in a context, perhaps of another device.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::{Context, Device};
    ///
    /// let here = DeviceBuffer::gathered(&Context::primary(0)?, &[b"abcd"])?;
    /// let there = here.copy_to(&Context::primary(Device::count()? - 1)?)?;
    /// assert!(there.to_vec()? == b"abcd" && !there.is_same_memory(&here));
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the other device has no room: `CUDA_ERROR_OUT_OF_MEMORY`; other driver errors.
    pub fn copy_to(&self, context: &Context) -> Result<Self, Error> {
        let copy = Self::allocate(context, self.size)?;
        copy.copy_from_device(self)?;
        Ok(copy)
    }

    /// Sets every byte to `value`.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    ///
    /// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 4)?;
    /// buffer.fill(0)?;
    /// buffer.slice(1..3)?.fill(7)?;
    /// assert_eq!(buffer.to_vec()?, [0, 7, 7, 0]);
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::ReadOnly`], or driver errors.
    pub fn fill(&self, value: u8) -> Result<(), Error> {
        self.fill_in(CopyOrder::Now, value).map(drop)
    }

    /// As [`fill`](Self::fill), now or on a stream, where the queued fill retains the buffer.  The result
    /// holds the owners of earlier work that is complete by now.
    ///
    /// ```
    /// use arrow_cuda_buffer::{CopyOrder, DeviceBuffer};
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// let stream = Stream::new(&context)?;
    /// let buffer = DeviceBuffer::allocate(&context, 4)?;
    /// buffer.fill_in(CopyOrder::On(&stream), 7)?;
    /// stream.synchronize()?;
    /// assert_eq!(buffer.to_vec()?, [7; 4]);
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::ReadOnly`], [`Error::Invalid`] for a stream of another context, or driver errors.
    pub fn fill_in(&self, order: CopyOrder<'_>, value: u8) -> Result<Completed, Error> {
        begin(order, &[self])?;
        if !self.check_writable(0, self.size)? {
            return Ok(Completed::default());
        }
        match order {
            CopyOrder::Now => {
                let current = self.context().enter()?;
                // SAFETY: the whole range of the buffer, which owns its memory.
                let filled = unsafe { current.fill_memory(self.private_address, value, self.size) };
                self.expose_on_failure(filled)?;
                Ok(Completed::default())
            }
            CopyOrder::On(stream) => {
                Ok(stream.enqueue(Box::new(self.clone()), |current, stream| {
                    // SAFETY: as above; the buffer is retained.
                    unsafe { current.queue_fill(self.private_address, value, self.size, stream) }
                })?)
            }
        }
    }

    /// Checks that `size` bytes may be read from `position` on.  Returns whether there are any.
    pub(crate) fn check_readable(&self, position: usize, size: usize) -> Result<bool, Error> {
        range::within(position, size, self.size)?;
        if size > 0 {
            self.check_memory()?;
        }
        Ok(size > 0)
    }

    /// Checks that `size` bytes may be written from `position` on.  Returns whether there are any.
    pub(crate) fn check_writable(&self, position: usize, size: usize) -> Result<bool, Error> {
        range::within(position, size, self.size)?;
        self.check_mutable()?;
        self.check_readable(position, size)
    }

    /// Whether the buffer holds exactly these host bytes.  Takes as long as copying them, and stops
    /// at a difference.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    ///
    /// let buffer = DeviceBuffer::gathered(&Context::primary(0)?, &[b"abcd"])?;
    /// assert!(buffer.equals_host(b"abcd")? && !buffer.equals_host(b"abc")?);
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors.
    pub fn equals_host(&self, bytes: &[u8]) -> Result<bool, Error> {
        if self.size != bytes.len() {
            return Ok(false);
        }
        if !self.check_readable(0, self.size)? {
            return Ok(true);
        }
        // SAFETY: the whole range of the buffer, which owns its memory.
        let compared =
            unsafe { transfer::equals_host(self.context(), self.private_address, bytes) };
        self.expose_on_failure(compared)
    }
}

/// The owner of memory that is borrowed for a copy that is made now.
fn unowned() -> Retained {
    Box::new(())
}

/// Orders the stream of a copy after the producers of the buffers' memory.  Refuses a stream that belongs to
/// none of their contexts.
pub(crate) fn begin(order: CopyOrder<'_>, buffers: &[&DeviceBuffer]) -> Result<(), Error> {
    check_order_of(order, buffers.iter().map(|buffer| buffer.context()))?;
    order_after(order, buffers)
}

/// Orders the stream of a copy after the producers of the buffers' memory.  The default stream is ordered after
/// them already, and so are copies that are made now.
pub(crate) fn order_after(order: CopyOrder<'_>, buffers: &[&DeviceBuffer]) -> Result<(), Error> {
    let CopyOrder::On(stream) = order else { return Ok(()) };
    Ok(buffers.iter().try_for_each(|buffer| buffer.order(stream))?)
}

/// Refuses a stream that belongs to none of these contexts.
pub(crate) fn check_order_of<'a>(
    order: CopyOrder<'_>,
    mut contexts: impl Iterator<Item = &'a Context>,
) -> Result<(), Error> {
    let CopyOrder::On(stream) = order else { return Ok(()) };
    let Some(first) = contexts.next() else { return Ok(()) };
    if first.is_same(stream.context()) || contexts.any(|context| context.is_same(stream.context()))
    {
        return Ok(());
    }
    let of = |context: &Context| {
        format!("{:#x} on device {}", context.handle(), context.device().number())
    };
    let (theirs, ours) = (of(stream.context()), of(first));
    invalid(format!(
        "the stream belongs to context {theirs}, the buffer to context {ours}; make the stream with the context of \
         the buffer"
    ))
}

pub(crate) fn too_large(size: usize) -> Error {
    Error::Invalid(format!("{size} bytes do not fit into this machine's memory"))
}
