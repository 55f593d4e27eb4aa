//! Copies between device buffers and files.

use crate::copy::too_large;
use crate::{DeviceBuffer, Error};
use arrow_cuda_transfer as transfer;
use std::os::fd::AsFd;

impl DeviceBuffer {
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
        file: &(impl AsFd + Sync),
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
        self.expose_on_failure(copied)
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
        file: &(impl AsFd + Sync),
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
        self.expose_on_failure(copied)
    }
}
