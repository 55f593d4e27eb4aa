//! Copies from, to and between device buffers.
//!
//! Every copy here is ordered as the legacy default stream is: it sees the work that was queued
//! there before, and is complete when the call returns.  Copies on other streams are in
//! `queued.rs`.  `arrow_cuda_transfer` decides how host memory is copied.

use crate::{DeviceBuffer, Error, copy_to_host_scattered, range};
use arrow_cuda_context::Context;
use arrow_cuda_transfer as transfer;
use std::mem::MaybeUninit;
use std::os::fd::AsFd;

impl DeviceBuffer {
    /// Copies `out.len()` bytes from `position` on to the host.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`], or driver errors.
    pub fn copy_to_host(&self, position: u64, out: &mut [u8]) -> Result<(), Error> {
        // SAFETY: the copy only ever stores initialised bytes.
        let out = unsafe { &mut *(std::ptr::from_mut(out) as *mut [MaybeUninit<u8>]) };
        self.copy_to_uninit(position, out)
    }

    /// As [`copy_to_host`](Self::copy_to_host), into memory that nobody has written to yet.
    /// All of it is initialised when the call succeeds.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`], or driver errors.
    pub fn copy_to_uninit(&self, position: u64, out: &mut [MaybeUninit<u8>]) -> Result<(), Error> {
        if !self.check_readable(position, out.len() as u64)? {
            return Ok(());
        }
        // SAFETY: the range was checked; the buffer owns its memory.
        let copied =
            unsafe { transfer::copy_to_host(self.context(), out, self.private_address + position) };
        Ok(self.settle(copied)?)
    }

    /// The bytes, on the host.
    ///
    /// # Errors
    ///
    /// Driver errors.
    pub fn to_vec(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = room_for(self.size)?;
        self.copy_to_uninit(0, sized(&mut bytes, self.size)?)?;
        // SAFETY: the copy has initialised as many bytes as the buffer has, for which there is room.
        unsafe { bytes.set_len(self.size as usize) };
        Ok(bytes)
    }

    /// The bytes of many buffers, on the host.  Buffers that lie near each other in one allocation, in this
    /// order, go by one copy.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    ///
    /// let parts = [b"one".as_slice(), b"", b"four"];
    /// let buffers = DeviceBuffer::adjacent_from_host(&Context::primary(0)?, &parts)?;
    /// assert_eq!(DeviceBuffer::to_vecs(&buffers.iter().collect::<Vec<_>>())?, parts);
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] when the host has no room, or driver errors.
    pub fn to_vecs(buffers: &[&Self]) -> Result<Vec<Vec<u8>>, Error> {
        let reserved = buffers.iter().map(|buffer| room_for(buffer.size));
        let mut vecs = reserved.collect::<Result<Vec<_>, _>>()?;
        let mut parts = Vec::with_capacity(buffers.len());
        for (from, bytes) in buffers.iter().zip(&mut vecs) {
            parts.push((*from, sized(bytes, from.size)?));
        }
        copy_to_host_scattered(parts)?;
        for (from, bytes) in buffers.iter().zip(&mut vecs) {
            // SAFETY: the copy has initialised as many bytes as the buffer has, for which there is room.
            unsafe { bytes.set_len(from.size as usize) };
        }
        Ok(vecs)
    }

    /// Copies host bytes into the buffer, from `position` on.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`], [`Error::ReadOnly`], or driver errors.
    pub fn copy_from_host(&self, position: u64, data: &[u8]) -> Result<(), Error> {
        if !self.check_writable(position, data.len() as u64)? {
            return Ok(());
        }
        // SAFETY: the range was checked; the buffer owns its memory.
        let copied = unsafe {
            transfer::copy_from_host(self.context(), self.private_address + position, data)
        };
        Ok(self.settle(copied)?)
    }

    /// Copies `size` bytes of a file, from `offset` on, into the buffer, from `position` on.  Large
    /// parts are read by several threads, straight into pinned memory, and a file that shrinks is an
    /// error, not a fault of the process.  The file's own position does not matter, and stays as it
    /// is.
    ///
    /// ```no_run
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use std::fs::File;
    ///
    /// let file = File::open("columns.bin")?;
    /// let size = file.metadata()?.len();
    /// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, size)?;
    /// buffer.copy_from_file(0, &file, 0, size)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`], [`Error::ReadOnly`], [`Error::Read`] when the file cannot be read or is
    /// shorter, or driver errors.
    pub fn copy_from_file(
        &self,
        position: u64,
        file: &impl AsFd,
        offset: u64,
        size: u64,
    ) -> Result<(), Error> {
        if !self.check_writable(position, size)? {
            return Ok(());
        }
        let (to, count) = (self.private_address + position, usize::try_from(size));
        let count = count.map_err(|_| too_large(size))?;
        // SAFETY: the range was checked; the buffer owns its memory.
        let copied = unsafe { transfer::copy_from_file(self.context(), to, file, offset, count) };
        Ok(self.settle(copied)?)
    }

    /// Copies `size` bytes, from `position` on, into a file, from `offset` on.  The file grows where it
    /// has to; its own position does not matter, and stays as it is.
    ///
    /// ```no_run
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use std::fs::File;
    ///
    /// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 1000)?;
    /// buffer.copy_to_file(0, &File::create("columns.bin")?, 0, 1000)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`], [`Error::Write`] when the file cannot be written, or driver errors.
    pub fn copy_to_file(
        &self,
        position: u64,
        file: &impl AsFd,
        offset: u64,
        size: u64,
    ) -> Result<(), Error> {
        if !self.check_readable(position, size)? {
            return Ok(());
        }
        let (from, count) = (self.private_address + position, usize::try_from(size));
        let count = count.map_err(|_| too_large(size))?;
        // SAFETY: the range was checked; the buffer owns its memory.
        let copied = unsafe { transfer::copy_to_file(self.context(), from, file, offset, count) };
        Ok(self.settle(copied)?)
    }

    /// Gathers ranges of host memory into the buffer, one behind the other from `position` on: many
    /// small ones cost hardly more than a single one of their total size.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    ///
    /// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 8)?;
    /// buffer.copy_from_host_gathered(1, &[b"one", b"", b"four"])?;
    /// assert_eq!(buffer.slice(1, 7)?.to_vec()?, b"onefour");
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`], [`Error::ReadOnly`], or driver errors.
    pub fn copy_from_host_gathered(&self, position: u64, parts: &[&[u8]]) -> Result<(), Error> {
        let mut end = 0;
        let mut placed = Vec::with_capacity(parts.len());
        for part in parts {
            placed.push((end, *part));
            end += part.len();
        }
        self.copy_from_host_placed(position, &placed)
    }

    /// Copies parts with gaps between them, which become zeros.  Each part comes with its offset from
    /// `position`, in ascending order.
    pub(crate) fn copy_from_host_placed(
        &self,
        position: u64,
        parts: &[(usize, &[u8])],
    ) -> Result<(), Error> {
        let size = parts.last().map_or(0, |(at, part)| at + part.len());
        if !self.check_writable(position, size as u64)? {
            return Ok(());
        }
        let to = self.private_address + position;
        // SAFETY: the range was checked; the buffer owns its memory.
        let copied = unsafe { transfer::copy_from_host_gathered(self.context(), to, parts) };
        Ok(self.settle(copied)?)
    }

    /// Scatters the buffer to parts of host memory, which come with their offsets in it, in ascending
    /// order.
    pub(crate) fn copy_to_host_placed(
        &self,
        parts: &mut [(usize, &mut [MaybeUninit<u8>])],
    ) -> Result<(), Error> {
        let size = parts.last().map_or(0, |(at, part)| at + part.len());
        if !self.check_readable(0, size as u64)? {
            return Ok(());
        }
        // SAFETY: the range was checked; the buffer owns its memory.
        let copied = unsafe {
            transfer::copy_to_host_scattered(self.context(), parts, self.private_address)
        };
        Ok(self.settle(copied)?)
    }

    /// Copies another buffer, which may lie on another device, into this one.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`], [`Error::ReadOnly`], or driver errors.
    pub fn copy_from_device(&self, position: u64, data: &Self) -> Result<(), Error> {
        if !self.check_writable(position, data.size)? {
            return Ok(());
        }
        data.check_memory()?;
        let (to, from) = (self.private_address + position, data.private_address);
        if range::overlap(to, from, data.size) {
            // The driver does not define overlapping copies; a temporary buffer makes them safe.
            let detour = Self::allocate_own(data.context(), data.size)?;
            detour.copy_from_device(0, data)?;
            return self.copy_from_device(position, &detour);
        }
        let size = usize::try_from(data.size).map_err(|_| too_large(data.size))?;
        let current = data.context().enter()?;
        // SAFETY: both ranges were checked and do not overlap; both buffers own their memory.
        let copied = unsafe { current.copy_to_context((to, self.context()), from, size) };
        Ok(self.settle(data.settle(copied))?)
    }

    /// Checks that `size` bytes may be read from `position` on.  Returns whether there are any.
    pub(crate) fn check_readable(&self, position: u64, size: u64) -> Result<bool, Error> {
        range::within(position, size, self.size)?;
        if size > 0 {
            self.check_memory()?;
        }
        Ok(size > 0)
    }

    /// Checks that `size` bytes may be written from `position` on.  Returns whether there are any.
    pub(crate) fn check_writable(&self, position: u64, size: u64) -> Result<bool, Error> {
        range::within(position, size, self.size)?;
        self.check_mutable()?;
        self.check_readable(position, size)
    }

    /// A new buffer with the same bytes in a context, perhaps of another device.
    ///
    /// # Errors
    ///
    /// Driver errors.
    pub fn copy_to(&self, context: &Context) -> Result<Self, Error> {
        let copy = Self::allocate(context, self.size)?;
        copy.copy_from_device(0, self)?;
        Ok(copy)
    }

    /// Sets every byte to `value`.
    ///
    /// # Errors
    ///
    /// [`Error::ReadOnly`], or driver errors.
    pub fn fill(&self, value: u8) -> Result<(), Error> {
        if !self.check_writable(0, self.size)? {
            return Ok(());
        }
        let size = usize::try_from(self.size).map_err(|_| too_large(self.size))?;
        // SAFETY: the whole range of the buffer, which owns its memory.
        let filled =
            unsafe { self.context().enter()?.fill_memory(self.private_address, value, size) };
        Ok(self.settle(filled)?)
    }

    /// Whether the buffer holds exactly these host bytes.  Takes as long as copying them, and stops
    /// at a difference.
    ///
    /// # Errors
    ///
    /// Driver errors.
    pub fn equals_host(&self, bytes: &[u8]) -> Result<bool, Error> {
        if self.size != bytes.len() as u64 {
            return Ok(false);
        }
        if !self.check_readable(0, self.size)? {
            return Ok(true);
        }
        // SAFETY: the whole range of the buffer, which owns its memory.
        let compared =
            unsafe { transfer::equals_host(self.context(), self.private_address, bytes) };
        Ok(self.settle(compared)?)
    }
}

/// Memory for so many bytes.
fn room_for(size: u64) -> Result<Vec<u8>, Error> {
    let count = usize::try_from(size).map_err(|_| too_large(size))?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(count).map_err(|_| too_large(size))?;
    Ok(bytes)
}

/// The first bytes of such memory.
fn sized(bytes: &mut Vec<u8>, size: u64) -> Result<&mut [MaybeUninit<u8>], Error> {
    bytes.spare_capacity_mut().get_mut(..size as usize).ok_or_else(|| too_large(size))
}

pub(crate) fn too_large(size: u64) -> Error {
    Error::Invalid(format!("{size} bytes do not fit into this machine's memory"))
}
