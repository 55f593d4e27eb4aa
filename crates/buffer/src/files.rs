//! Copies between device buffers and files.

use crate::{DeviceBuffer, Error};
use arrow_cuda_transfer as transfer;
use arrow_cuda_transfer::FileRange;
use std::ops::Range;
use std::os::fd::AsFd;

impl DeviceBuffer {
    /// Copies `size` bytes of a file, from `offset` on, into the buffer, from `position` on.  Large
    /// parts are read by several threads, straight into pinned memory, and a file that shrinks is an
    /// error, not a fault of the process.  The file's own position does not matter, and stays as it
    /// is.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use std::io::Write;
    ///
    /// let mut file = tempfile::tempfile()?; // or `File::open`
    /// file.write_all(b"abcdef")?;
    /// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 4)?;
    /// buffer.copy_from_file(0, &file, 2, 4)?;
    /// assert_eq!(buffer.to_vec()?, b"cdef");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`], [`Error::ReadOnly`], [`Error::Read`] when the file cannot be read or is
    /// shorter, or driver errors.  After a failed read, the buffer has some of the file's bytes.
    pub fn copy_from_file(
        &self,
        position: usize,
        file: &(impl AsFd + Sync),
        offset: u64,
        size: usize,
    ) -> Result<(), Error> {
        if !self.check_writable(position, size)? {
            return Ok(());
        }
        let range = FileRange { offset, size, address: self.private_address + position as u64 };
        // SAFETY: the range was checked; the buffer owns its memory.
        let copied = unsafe { transfer::copy_from_file(self.context(), file, &[range]) };
        self.expose_on_failure(copied)
    }

    /// Copies ranges of a file to the same places of the buffer, as
    /// [`copy_from_file`](Self::copy_from_file) does.  Many small ones cost hardly more than one of
    /// their total size.  What lies between the first and the last one may become zeros.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use std::io::Write;
    ///
    /// let mut file = tempfile::tempfile()?; // or `File::open`
    /// file.write_all(b"abcdef")?;
    /// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 6)?;
    /// buffer.copy_ranges_from_file(&file, &[0..1, 4..6])?;
    /// assert_eq!(buffer.slice(..1)?.to_vec()?, b"a");
    /// assert_eq!(buffer.slice(4..)?.to_vec()?, b"ef");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] where ranges overlap, or do not ascend; else as
    /// [`copy_from_file`](Self::copy_from_file).
    pub fn copy_ranges_from_file(
        &self,
        file: &(impl AsFd + Sync),
        ranges: &[Range<u64>],
    ) -> Result<(), Error> {
        let ends = ranges.iter().flat_map(|range| [range.start, range.end]);
        if !ends.is_sorted() {
            return Err(Error::Invalid("ranges of a file overlap, or do not ascend".into()));
        }
        let end = ranges.last().map_or(0, |range| range.end);
        if !self.check_writable(0, end as usize)? {
            return Ok(());
        }
        let place = |range: &Range<u64>| {
            let size = (range.end - range.start) as usize; // less than `end`
            FileRange { offset: range.start, size, address: self.private_address + range.start }
        };
        let placed: Vec<_> = ranges.iter().map(place).collect();
        // SAFETY: the ranges were checked; the buffer owns its memory.
        let copied = unsafe { transfer::copy_from_file(self.context(), file, &placed) };
        self.expose_on_failure(copied)
    }

    /// Copies `size` bytes, from `position` on, into a file, from `offset` on.  The file grows where it
    /// has to; its own position does not matter, and stays as it is.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use std::io::Read;
    ///
    /// let buffer = DeviceBuffer::gathered(&Context::primary(0)?, &[b"abcdef"])?;
    /// let mut file = tempfile::tempfile()?; // or `File::create`
    /// buffer.copy_to_file(2, &file, 1, 3)?;
    /// let mut bytes = Vec::new();
    /// file.read_to_end(&mut bytes)?;
    /// assert_eq!(bytes, b"\0cde");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`], [`Error::Write`] when the file cannot be written, or driver errors.
    pub fn copy_to_file(
        &self,
        position: usize,
        file: &(impl AsFd + Sync),
        offset: u64,
        size: usize,
    ) -> Result<(), Error> {
        if !self.check_readable(position, size)? {
            return Ok(());
        }
        let from = self.private_address + position as u64;
        // SAFETY: the range was checked; the buffer owns its memory.
        let copied = unsafe { transfer::copy_to_file(self.context(), from, file, offset, size) };
        self.expose_on_failure(copied)
    }
}
