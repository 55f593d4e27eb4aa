//! Writing a device buffer as a file.

use crate::double_buffer::DoubleBuffer;
use crate::reader::sought;
use crate::{Error, HostFile};
use arrow_cuda_buffer::{DeviceBuffer, Error as BufferError};
use arrow_cuda_context::Completed;
use arrow_cuda_driver::{LockGuard, LongLock, blocking, may_release, report};
use std::io::{self, Seek, SeekFrom, Write};

/// A file over device memory for writing, directly or through a buffer on the host.
///
/// Buffered bytes reach the device on [`flush`](Self::flush), on a write that fills the host
/// buffer, when the position jumps, on [`close`](Self::close), and at the latest when the writer is
/// dropped.  [`flush`](Self::flush) and [`close`](Self::close) wait until they are there; otherwise
/// their copy is queued on the default stream, so that work queued there later finds them, and the
/// program goes on.  A write past the buffer's end fails as a whole, and changes nothing.
///
/// ```
/// use arrow_cuda_buffer::DeviceBuffer;
/// use arrow_cuda_context::Context;
/// use arrow_cuda_host_io::{BufferWriter, Error};
///
/// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 4)?;
/// let writer = BufferWriter::new(buffer.clone())?;
/// writer.write_bytes(b"ab")?;
/// assert!(matches!(writer.write_bytes(b"cde"), Err(Error::Full { .. })));
/// writer.write_at(2, b"cd")?;
/// assert_eq!(buffer.to_vec()?, b"abcd");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct BufferWriter {
    buffer: DeviceBuffer,
    state: LongLock<State>,
}

#[derive(Debug)]
struct State {
    is_open: bool,
    /// Where the next byte goes; buffered ones belong right before it.
    position: u64,
    double_buffer: Option<DoubleBuffer>,
}

impl BufferWriter {
    /// Opens a buffer at its start, unbuffered.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_host_io::BufferWriter;
    ///
    /// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 4)?;
    /// assert_eq!(BufferWriter::new(buffer.clone())?.position()?, 0);
    /// assert!(BufferWriter::new(buffer.read_only()).is_err());
    /// # Ok::<(), arrow_cuda_host_io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`BufferError::ReadOnly`] when the buffer is not mutable.
    pub fn new(buffer: DeviceBuffer) -> Result<Self, Error> {
        if !buffer.is_mutable() {
            return Err(BufferError::ReadOnly.into());
        }
        let state = State { is_open: true, position: 0, double_buffer: None };
        Ok(Self { buffer, state: LongLock::new(state) })
    }

    /// The buffer that is written.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_host_io::BufferWriter;
    ///
    /// let writer = BufferWriter::new(DeviceBuffer::allocate(&Context::primary(0)?, 4)?)?;
    /// writer.write_bytes(b"data")?;
    /// assert_eq!(writer.buffer().to_vec()?, b"data");
    /// # Ok::<(), arrow_cuda_host_io::Error>(())
    /// ```
    pub fn buffer(&self) -> &DeviceBuffer {
        &self.buffer
    }

    /// Flushes and closes.  A second call does nothing.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_host_io::{BufferWriter, Error};
    ///
    /// let writer = BufferWriter::new(DeviceBuffer::allocate(&Context::primary(0)?, 4)?)?;
    /// writer.set_buffer_size(1024)?;
    /// writer.write_bytes(b"data")?;
    /// writer.close()?;
    /// assert_eq!(writer.buffer().to_vec()?, b"data");
    /// assert_eq!(writer.write_at(0, b"more"), Err(Error::Closed));
    /// # Ok::<(), arrow_cuda_host_io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The error of the flush, or of a copy that was queued; the file is closed all the same.
    pub fn close(&self) -> Result<(), Error> {
        let mut state = self.state.lock()?;
        if !state.is_open {
            return Ok(());
        }
        let flushed = state.flush(&self.buffer);
        state.is_open = false;
        if let Some(buffered) = state.double_buffer.as_mut().filter(|_| flushed.is_err()) {
            // Other copies may be on their way; what they retain would wait for a use of the stream.
            let _told_already = buffered.wait();
        }
        // Not under the lock: releasing it may block.
        let buffered = state.double_buffer.take();
        drop(state);
        drop(buffered);
        flushed
    }

    /// Whether the file is closed.  False in a forked child, where any use of the file fails.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_host_io::BufferWriter;
    ///
    /// let writer = BufferWriter::new(DeviceBuffer::allocate(&Context::primary(0)?, 4)?)?;
    /// assert!(!writer.is_closed());
    /// writer.close()?;
    /// assert!(writer.is_closed());
    /// # Ok::<(), arrow_cuda_host_io::Error>(())
    /// ```
    pub fn is_closed(&self) -> bool {
        self.state.lock().is_ok_and(|state| !state.is_open)
    }

    /// The position, in bytes from the start, including buffered bytes.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_host_io::BufferWriter;
    ///
    /// let writer = BufferWriter::new(DeviceBuffer::allocate(&Context::primary(0)?, 10)?)?;
    /// writer.write_bytes(b"data")?;
    /// assert_eq!(writer.position()?, 4);
    /// # Ok::<(), arrow_cuda_host_io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Closed`].
    pub fn position(&self) -> Result<u64, Error> {
        Ok(self.open_state()?.position)
    }

    /// Flushes, then moves to a position within the buffer.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_host_io::BufferWriter;
    ///
    /// let buffer = DeviceBuffer::gathered(&Context::primary(0)?, &[b"abcd"])?;
    /// let writer = BufferWriter::new(buffer.clone())?;
    /// writer.set_position(2)?;
    /// writer.write_bytes(b"--")?;
    /// assert_eq!(buffer.to_vec()?, b"ab--");
    /// assert!(writer.set_position(4).is_err());
    /// # Ok::<(), arrow_cuda_host_io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Seek`] at or past the end, [`Error::Closed`], or driver errors.
    pub fn set_position(&self, position: u64) -> Result<(), Error> {
        self.with_state(|state, buffer| state.seek(buffer, position))
    }

    /// Writes host bytes at the position and moves it after them.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_host_io::BufferWriter;
    ///
    /// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 7)?;
    /// let writer = BufferWriter::new(buffer.clone())?;
    /// writer.write_bytes(b"one")?;
    /// writer.write_bytes(b"four")?;
    /// assert_eq!(buffer.to_vec()?, b"onefour");
    /// # Ok::<(), arrow_cuda_host_io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Full`] when they do not fit, [`Error::Closed`], or driver errors.
    pub fn write_bytes(&self, data: &[u8]) -> Result<(), Error> {
        self.with_state(|state, buffer| state.write(buffer, data))
    }

    /// Writes another device buffer, which may lie on another device.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_host_io::BufferWriter;
    ///
    /// let context = Context::primary(0)?;
    /// let data = DeviceBuffer::gathered(&context, &[b"ab"])?;
    /// let writer = BufferWriter::new(DeviceBuffer::allocate(&context, 4)?)?;
    /// writer.write_device(&data)?;
    /// writer.write_device(&data)?;
    /// assert_eq!(writer.buffer().to_vec()?, b"abab");
    /// # Ok::<(), arrow_cuda_host_io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Full`] when it does not fit, [`Error::Closed`], or driver errors.
    pub fn write_device(&self, data: &DeviceBuffer) -> Result<(), Error> {
        self.with_state(|state, buffer| state.write_device(buffer, data))
    }

    /// Like [`write_at`](Self::write_at), from another device buffer.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_host_io::BufferWriter;
    ///
    /// let context = Context::primary(0)?;
    /// let data = DeviceBuffer::gathered(&context, &[b"--"])?;
    /// let writer = BufferWriter::new(DeviceBuffer::gathered(&context, &[b"abcd"])?)?;
    /// writer.write_device_at(1, &data)?;
    /// assert_eq!((writer.buffer().to_vec()?, writer.position()?), (b"a--d".to_vec(), 3));
    /// # Ok::<(), arrow_cuda_host_io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`set_position`](Self::set_position) and [`write_device`](Self::write_device).
    pub fn write_device_at(&self, position: u64, data: &DeviceBuffer) -> Result<(), Error> {
        self.with_state(|state, buffer| {
            state.seek(buffer, position)?;
            state.write_device(buffer, data)
        })
    }

    /// Writes `size` bytes of a file, from `offset` on, and moves the position after them, as
    /// [`HostFile::copy_to_device`] does.  Returns when they are on the device.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_host_io::{BufferWriter, HostFile};
    /// use std::io::Write;
    ///
    /// let mut file = tempfile::tempfile()?; // or `File::open`
    /// file.write_all(b"abcdef")?;
    /// let file = HostFile::to_read(file, 2, 4, None);
    /// let writer = BufferWriter::new(DeviceBuffer::allocate(&Context::primary(0)?, 4)?)?;
    /// writer.write_file(&file, 2, 4)?;
    /// assert_eq!((writer.buffer().to_vec()?, writer.position()?), (b"cdef".to_vec(), 4));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Full`] when they do not fit, [`Error::Closed`], [`BufferError::Read`] when the file
    /// cannot be read or is shorter, or driver errors.
    pub fn write_file(&self, file: &HostFile, offset: u64, size: usize) -> Result<(), Error> {
        self.with_state(|state, buffer| {
            state.write_by(buffer, size, |at| file.copy_to_device(offset, buffer, at, size))
        })
    }

    /// Moves to `position` and writes there, as one step.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_host_io::BufferWriter;
    ///
    /// let writer = BufferWriter::new(DeviceBuffer::gathered(&Context::primary(0)?, &[b"abcd"])?)?;
    /// writer.write_at(1, b"--")?;
    /// assert_eq!((writer.buffer().to_vec()?, writer.position()?), (b"a--d".to_vec(), 3));
    /// # Ok::<(), arrow_cuda_host_io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`set_position`](Self::set_position) and [`write_bytes`](Self::write_bytes).
    pub fn write_at(&self, position: u64, data: &[u8]) -> Result<(), Error> {
        self.with_state(|state, buffer| {
            state.seek(buffer, position)?;
            state.write(buffer, data)
        })
    }

    /// Copies buffered bytes to the device, and waits until all that was written is there.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_host_io::BufferWriter;
    ///
    /// let writer = BufferWriter::new(DeviceBuffer::allocate(&Context::primary(0)?, 4)?)?;
    /// writer.set_buffer_size(1024)?;
    /// writer.write_bytes(b"data")?;
    /// writer.flush()?;
    /// assert_eq!(writer.buffer().to_vec()?, b"data");
    /// # Ok::<(), arrow_cuda_host_io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Closed`], or driver errors, including those of copies that were queued; bytes whose copy
    /// was not queued stay buffered.
    pub fn flush(&self) -> Result<(), Error> {
        self.with_state(State::flush)
    }

    /// Flushes, and buffers writes in `size` bytes of host memory from now on; 0 for none.  As many
    /// more are allocated once they are full, and fill while the others travel.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_host_io::BufferWriter;
    ///
    /// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 4)?;
    /// let writer = BufferWriter::new(buffer.clone())?;
    /// writer.set_buffer_size(1024)?;
    /// b"data".iter().try_for_each(|byte| writer.write_bytes(&[*byte]))?; // one copy for all
    /// writer.set_buffer_size(0)?;
    /// assert_eq!(buffer.to_vec()?, b"data");
    /// # Ok::<(), arrow_cuda_host_io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Closed`], or driver errors when there is no host memory.
    pub fn set_buffer_size(&self, size: usize) -> Result<(), Error> {
        let mut state = self.open_state()?;
        state.flush(&self.buffer)?;
        let new = match size {
            0 => None,
            size => Some(DoubleBuffer::allocate(self.buffer.context(), size)?),
        };
        // Not under the lock: releasing the old buffer may block.
        let old = std::mem::replace(&mut state.double_buffer, new);
        drop(state);
        drop(old);
        Ok(())
    }

    /// The host buffer's size, in bytes; 0 when writes are unbuffered.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_host_io::BufferWriter;
    ///
    /// let writer = BufferWriter::new(DeviceBuffer::allocate(&Context::primary(0)?, 4)?)?;
    /// assert_eq!(writer.buffer_size(), 0);
    /// writer.set_buffer_size(1024)?;
    /// assert_eq!(writer.buffer_size(), 1024);
    /// # Ok::<(), arrow_cuda_host_io::Error>(())
    /// ```
    pub fn buffer_size(&self) -> usize {
        self.of_host_buffer(DoubleBuffer::size)
    }

    /// How many bytes in the host buffer are not flushed yet.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_host_io::BufferWriter;
    ///
    /// let writer = BufferWriter::new(DeviceBuffer::allocate(&Context::primary(0)?, 10)?)?;
    /// writer.set_buffer_size(1024)?;
    /// writer.write_bytes(b"data")?;
    /// assert_eq!(writer.bytes_buffered(), 4);
    /// writer.flush()?;
    /// assert_eq!(writer.bytes_buffered(), 0);
    /// # Ok::<(), arrow_cuda_host_io::Error>(())
    /// ```
    pub fn bytes_buffered(&self) -> usize {
        self.of_host_buffer(DoubleBuffer::buffered)
    }

    fn of_host_buffer(&self, size: fn(&DoubleBuffer) -> usize) -> usize {
        self.state.lock().map_or(0, |state| state.double_buffer.as_ref().map_or(0, size))
    }

    fn open_state(&self) -> Result<LockGuard<'_, State>, Error> {
        let state = self.state.lock()?;
        if state.is_open { Ok(state) } else { Err(Error::Closed) }
    }

    fn with_state<T>(
        &self,
        work: impl FnOnce(&mut State, &DeviceBuffer) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut state = self.open_state()?;
        let outcome = work(&mut state, &self.buffer);
        let completed = state.take_completed();
        // Not under the lock: releasing what others have queued may block.
        drop(state);
        drop(completed);
        outcome
    }
}

/// Writes all bytes, or none if they do not fit.
impl Write for &BufferWriter {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.write_bytes(data)?;
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(BufferWriter::flush(self)?)
    }
}

impl Seek for &BufferWriter {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        Ok(self.with_state(|state, buffer| {
            let position = sought(to, state.position, buffer.len() as u64)?;
            if position != state.position {
                state.send(buffer)?;
                state.position = position;
            }
            Ok(position)
        })?)
    }

    fn stream_position(&mut self) -> io::Result<u64> {
        Ok(self.position()?)
    }
}

impl Write for BufferWriter {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        (&*self).write(data)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(Self::flush(self)?)
    }
}

impl Seek for BufferWriter {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        (&*self).seek(to)
    }

    fn stream_position(&mut self) -> io::Result<u64> {
        Ok(self.position()?)
    }
}

impl State {
    /// The position after the next `size` bytes.  Fails if the buffer ends before it.
    fn end_of(&self, buffer: &DeviceBuffer, size: usize) -> Result<u64, Error> {
        let limit = buffer.len();
        match self.position.checked_add(size as u64) {
            Some(end) if end <= limit as u64 => Ok(end),
            _ => Err(Error::Full { size, position: self.position, limit }),
        }
    }

    fn seek(&mut self, buffer: &DeviceBuffer, position: u64) -> Result<(), Error> {
        if position >= buffer.len() as u64 {
            return Err(Error::Seek("position out of bounds"));
        }
        self.send(buffer)?;
        self.position = position;
        Ok(())
    }

    fn write(&mut self, buffer: &DeviceBuffer, data: &[u8]) -> Result<(), Error> {
        let end = self.end_of(buffer, data.len())?;
        if data.is_empty() {
            return Ok(());
        }
        match &mut self.double_buffer {
            Some(buffered) if data.len() < buffered.size() => {
                buffered.write(buffer, self.position, data)?;
            }
            // Data that fills the host buffer goes directly to the device, after the buffered
            // bytes.
            _ => {
                self.send(buffer)?;
                buffer
                    .slice_with_length(self.position as usize, data.len())?
                    .copy_from_host(data)?;
            }
        }
        self.position = end;
        Ok(())
    }

    fn write_device(&mut self, buffer: &DeviceBuffer, data: &DeviceBuffer) -> Result<(), Error> {
        // A copy from another device follows the work of both, too.
        self.write_by(buffer, data.len(), |position| {
            buffer.slice_with_length(position, data.len())?.copy_from_device(data)
        })
    }

    /// Writes `size` bytes after the buffered ones.  `copy` brings them to a position.
    fn write_by(
        &mut self,
        buffer: &DeviceBuffer,
        size: usize,
        copy: impl FnOnce(usize) -> Result<(), BufferError>,
    ) -> Result<(), Error> {
        let end = self.end_of(buffer, size)?;
        self.send(buffer)?;
        copy(self.position as usize)?;
        self.position = end;
        Ok(())
    }

    /// Queues the copies of buffered bytes on the default stream, which copies of host memory follow.
    fn send(&mut self, buffer: &DeviceBuffer) -> Result<(), Error> {
        if let Some(buffered) = &mut self.double_buffer {
            buffered.send(buffer, self.position)?;
        }
        Ok(())
    }

    fn flush(&mut self, buffer: &DeviceBuffer) -> Result<(), Error> {
        self.send(buffer)?;
        if let Some(buffered) = &mut self.double_buffer {
            buffered.wait()?;
        }
        Ok(())
    }

    fn take_completed(&mut self) -> Completed {
        self.double_buffer.as_mut().map(DoubleBuffer::take_completed).unwrap_or_default()
    }
}

impl Drop for BufferWriter {
    fn drop(&mut self) {
        if may_release()
            && let Err(Error::Buffer(BufferError::Cuda(error))) = blocking(|| self.close())
        {
            report("a writer with bytes still buffered", &error);
        }
    }
}
