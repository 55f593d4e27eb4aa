//! Reading a device buffer as a file.

use crate::Error;
use arrow_cuda_buffer::{DeviceBuffer, range};
use arrow_cuda_driver::LongLock;
use std::io::{self, Read, Seek, SeekFrom};
use std::mem::MaybeUninit;

/// A file over device memory for reading: to the host, or as slices that stay on the device.
///
/// Threads may share it: each read and its move of the position are atomic.
///
/// ```
/// use arrow_cuda_buffer::DeviceBuffer;
/// use arrow_cuda_context::Context;
/// use arrow_cuda_host_io::BufferReader;
///
/// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 6)?;
/// buffer.copy_from_host(b"abcdef")?;
/// let reader = BufferReader::new(buffer);
/// reader.set_position(2)?;
/// assert_eq!(reader.read_buffer(3)?.to_vec()?, b"cde");
/// assert_eq!((reader.position()?, reader.size()?), (5, 6));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct BufferReader {
    buffer: DeviceBuffer,
    // None when closed.
    position: LongLock<Option<u64>>,
}

impl BufferReader {
    /// Opens a buffer, at its start.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_host_io::BufferReader;
    /// use std::io::Read;
    ///
    /// let mut reader = BufferReader::new(DeviceBuffer::gathered(&Context::primary(0)?, &[b"text"])?);
    /// let mut text = String::new();
    /// reader.read_to_string(&mut text)?;
    /// assert_eq!(text, "text");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(buffer: DeviceBuffer) -> Self {
        Self { buffer, position: LongLock::new(Some(0)) }
    }

    /// The buffer that is read.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_host_io::BufferReader;
    ///
    /// let buffer = DeviceBuffer::gathered(&Context::primary(0)?, &[b"data"])?;
    /// let reader = BufferReader::new(buffer.clone());
    /// assert!(reader.buffer().is_same_memory(&buffer));
    /// # Ok::<(), arrow_cuda_host_io::Error>(())
    /// ```
    pub fn buffer(&self) -> &DeviceBuffer {
        &self.buffer
    }

    /// Closes the file.  The buffer stays valid.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_host_io::{BufferReader, Error};
    ///
    /// let reader = BufferReader::new(DeviceBuffer::gathered(&Context::primary(0)?, &[b"data"])?);
    /// let slice = reader.read_buffer(2)?;
    /// reader.close();
    /// assert_eq!(reader.position(), Err(Error::Closed));
    /// assert_eq!(slice.to_vec()?, b"da");
    /// # Ok::<(), arrow_cuda_host_io::Error>(())
    /// ```
    pub fn close(&self) {
        if let Ok(mut position) = self.position.lock() {
            *position = None;
        }
    }

    /// Whether the file is closed.  False in a forked child, where any use of the file fails.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_host_io::BufferReader;
    ///
    /// let reader = BufferReader::new(DeviceBuffer::allocate(&Context::primary(0)?, 4)?);
    /// assert!(!reader.is_closed());
    /// reader.close();
    /// assert!(reader.is_closed());
    /// # Ok::<(), arrow_cuda_host_io::Error>(())
    /// ```
    pub fn is_closed(&self) -> bool {
        self.position.lock().is_ok_and(|position| position.is_none())
    }

    /// The position, in bytes from the start.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_host_io::BufferReader;
    ///
    /// let reader = BufferReader::new(DeviceBuffer::allocate(&Context::primary(0)?, 10)?);
    /// reader.read_buffer(4)?;
    /// assert_eq!(reader.position()?, 4);
    /// # Ok::<(), arrow_cuda_host_io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn position(&self) -> Result<u64, Error> {
        self.position.lock()?.ok_or(Error::Closed)
    }

    /// The file's size, in bytes.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_host_io::BufferReader;
    ///
    /// let reader = BufferReader::new(DeviceBuffer::allocate(&Context::primary(0)?, 10)?);
    /// assert_eq!(reader.size()?, 10);
    /// # Ok::<(), arrow_cuda_host_io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn size(&self) -> Result<usize, Error> {
        self.position()?;
        Ok(self.buffer.len())
    }

    /// Moves to a position from 0 to the size, both included.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_host_io::BufferReader;
    ///
    /// let reader = BufferReader::new(DeviceBuffer::gathered(&Context::primary(0)?, &[b"abcd"])?);
    /// reader.set_position(3)?;
    /// assert_eq!(reader.read_buffer(10)?.to_vec()?, b"d");
    /// assert!(reader.set_position(4).is_ok() && reader.set_position(5).is_err());
    /// # Ok::<(), arrow_cuda_host_io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Seek`] for another position, [`Error::Closed`].
    pub fn set_position(&self, position: u64) -> Result<(), Error> {
        let mut current = self.position.lock()?;
        current.ok_or(Error::Closed)?;
        if position > self.buffer.len() as u64 {
            return Err(Error::Seek("Seek out of bounds"));
        }
        *current = Some(position);
        Ok(())
    }

    /// Reads to the host, up to the end of the file or of `out`.  Returns the number of bytes read.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_host_io::BufferReader;
    ///
    /// let reader = BufferReader::new(DeviceBuffer::gathered(&Context::primary(0)?, &[b"abcd"])?);
    /// let mut bytes = Vec::with_capacity(10);
    /// let read = reader.read_uninit(bytes.spare_capacity_mut())?;
    /// // SAFETY: that many bytes were read.
    /// unsafe { bytes.set_len(read) };
    /// assert_eq!(bytes, b"abcd");
    /// # Ok::<(), arrow_cuda_host_io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Closed`], or driver errors.
    pub fn read_uninit(&self, out: &mut [MaybeUninit<u8>]) -> Result<usize, Error> {
        let mut position = self.position.lock()?;
        let start = position.ok_or(Error::Closed)?;
        let read = self.read_slice(start, out)?;
        *position = Some(start + read as u64);
        Ok(read)
    }

    /// Reads to the host from `position`, without moving the file's position.  Returns the number
    /// of bytes read, 0 past the end.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_host_io::BufferReader;
    ///
    /// let reader = BufferReader::new(DeviceBuffer::gathered(&Context::primary(0)?, &[b"abcd"])?);
    /// let mut bytes = Vec::with_capacity(10);
    /// let read = reader.read_at(1, bytes.spare_capacity_mut())?;
    /// // SAFETY: that many bytes were read.
    /// unsafe { bytes.set_len(read) };
    /// assert_eq!((bytes.as_slice(), reader.position()?), (b"bcd".as_slice(), 0));
    /// # Ok::<(), arrow_cuda_host_io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Closed`], or driver errors.
    pub fn read_at(&self, position: u64, out: &mut [MaybeUninit<u8>]) -> Result<usize, Error> {
        self.position()?;
        self.read_slice(position, out)
    }

    fn read_slice(&self, position: u64, out: &mut [MaybeUninit<u8>]) -> Result<usize, Error> {
        let position = position as usize;
        let available = range::available(position, out.len(), self.buffer.len());
        let (out, _) = out.split_at_mut(available);
        if !out.is_empty() {
            self.buffer.slice_with_length(position, out.len())?.copy_to_uninit(out)?;
        }
        Ok(out.len())
    }

    /// The next `size` bytes, or as many as there are, as a slice on the device.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_host_io::BufferReader;
    ///
    /// let reader = BufferReader::new(DeviceBuffer::gathered(&Context::primary(0)?, &[b"abcd"])?);
    /// assert_eq!(reader.read_buffer(3)?.to_vec()?, b"abc");
    /// assert_eq!(reader.read_buffer(3)?.to_vec()?, b"d");
    /// # Ok::<(), arrow_cuda_host_io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn read_buffer(&self, size: usize) -> Result<DeviceBuffer, Error> {
        let mut position = self.position.lock()?;
        let start = position.ok_or(Error::Closed)?;
        let slice = self.slice_at(start, size)?;
        *position = Some(start + slice.len() as u64);
        Ok(slice)
    }

    /// Like [`read_buffer`](Self::read_buffer), from `position`, without moving the file's
    /// position.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_host_io::BufferReader;
    ///
    /// let reader = BufferReader::new(DeviceBuffer::gathered(&Context::primary(0)?, &[b"abcd"])?);
    /// assert_eq!(reader.read_buffer_at(1, 2)?.to_vec()?, b"bc");
    /// assert_eq!(reader.position()?, 0);
    /// # Ok::<(), arrow_cuda_host_io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn read_buffer_at(&self, position: u64, size: usize) -> Result<DeviceBuffer, Error> {
        self.position()?;
        self.slice_at(position, size)
    }

    fn slice_at(&self, position: u64, size: usize) -> Result<DeviceBuffer, Error> {
        let position = self.buffer.len().min(position as usize);
        let size = range::available(position, size, self.buffer.len());
        Ok(self.buffer.slice_with_length(position, size)?)
    }
}

/// Copies to the host.
impl Read for &BufferReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let mut position = self.position.lock().map_err(Error::from)?;
        let start = position.ok_or(Error::Closed)?;
        let size = range::available(start as usize, out.len(), self.buffer.len());
        let (out, _) = out.split_at_mut(size);
        self.buffer.slice_with_length(start as usize, out.len())?.copy_to_host(out)?;
        *position = Some(start + size as u64);
        Ok(size)
    }
}

impl Seek for &BufferReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let mut position = self.position.lock().map_err(Error::from)?;
        let current = position.ok_or(Error::Closed)?;
        let found = sought(to, current, self.buffer.len() as u64)?;
        *position = Some(found);
        Ok(found)
    }

    fn stream_position(&mut self) -> io::Result<u64> {
        Ok(self.position()?)
    }
}

impl Read for BufferReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        (&*self).read(out)
    }
}

impl Seek for BufferReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        (&*self).seek(to)
    }

    fn stream_position(&mut self) -> io::Result<u64> {
        Ok(self.position()?)
    }
}

/// The position that is sought, from 0 to the end, in a file of `size` bytes at position `current`.
pub(crate) fn sought(to: SeekFrom, current: u64, size: u64) -> Result<u64, Error> {
    match to {
        SeekFrom::Start(position) => Some(position),
        SeekFrom::Current(by) => current.checked_add_signed(by),
        SeekFrom::End(by) => size.checked_add_signed(by),
    }
    .filter(|position| *position <= size)
    .ok_or(Error::Seek("Seek out of bounds"))
}
