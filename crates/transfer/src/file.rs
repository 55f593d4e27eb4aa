//! Copies of files to a device, and from it.
//!
//! The engine's threads read a file straight into the staging slots, so its bytes are copied once on
//! the host, and no mapping of the file can fault.  One thread writes a file: most file systems let no
//! others write to it meanwhile.

use crate::Staging;
use crate::engine::{FilePart, ReadError, WriteError, run_file};
use arrow_cuda_context::{Context, Current, Event, StreamHandle};
use arrow_cuda_driver::{CudaError, Patience};
use std::os::fd::AsFd;

/// Why a file could not be copied to a device, or from it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// The driver failed, or the context is gone.
    #[error(transparent)]
    Cuda(#[from] CudaError),
    /// The file could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The file could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// How much one thread reads or writes at a time.  It stays in the processor's caches until the device
/// reads it, or the file is written.
const STEP: usize = 1 << 20;
/// Files that are read and written past the page cache need memory that begins at a page.
const ALIGNMENT: usize = 4096;

/// Two halves, of which one is on its way to or from the device while the other is filled or emptied.
struct DoubleBuffer {
    staging: Staging,
    /// Where the first half begins.
    start: usize,
}

impl DoubleBuffer {
    fn allocate(context: &Context, size: usize) -> Result<Self, CudaError> {
        let mut staging = Staging::allocate(context, size.min(2 * STEP) + ALIGNMENT)?;
        let start = staging.bytes_mut().as_ptr().align_offset(ALIGNMENT);
        Ok(Self { staging, start })
    }

    /// The first `size` bytes of one of the halves.
    fn bytes_mut(&mut self, half: usize, size: usize) -> &mut [u8] {
        &mut self.staging.bytes_mut()[self.start + half * STEP..][..size]
    }

    /// Waits for the device, which may be at work on the memory also after a failure.
    fn finish(self, current: &Current<'_>, copied: Result<(), FileError>) -> Result<(), FileError> {
        let waited = current.synchronize_stream(StreamHandle::DEFAULT);
        if let (Err(_), Staging::Pinned(pinned)) = (&waited, &self.staging) {
            pinned.as_ptr(); // others know it as well now: it serves again behind a fence
        }
        waited.map_err(FileError::from).and(copied)
    }
}

/// Copies `size` bytes of a file, from `offset` on, to a device.  The file's own position does not
/// matter, and stays as it is.
///
/// # Safety
///
/// As many bytes at `to` must be live memory of the context's device, and the caller's to write.
///
/// # Errors
///
/// [`FileError::Read`] when the file cannot be read or is shorter, [`FileError::Cuda`].  Some of the
/// bytes at `to` may have changed.
pub unsafe fn copy_from_file(
    context: &Context,
    to: u64,
    file: &impl AsFd,
    offset: u64,
    size: usize,
) -> Result<(), FileError> {
    if size == 0 {
        return Ok(());
    }
    let current = context.enter()?;
    // SAFETY: guaranteed by the caller.
    if let Some(read) = unsafe { run_file(&current, FilePart::new(file, offset, size), to) }? {
        return Ok(read?);
    }
    let file = FilePart::new(file, offset, size);
    current.await_turn(StreamHandle::DEFAULT)?;
    let mut buffer = DoubleBuffer::allocate(context, size)?;
    // SAFETY: guaranteed by the caller; the buffer lives until the stream has been waited for.
    let sent = unsafe { send(&current, to, &file, &mut buffer) };
    buffer.finish(&current, sent)
}

/// Reads a file into one half while the device copies the other.
///
/// # Safety
///
/// As for [`copy_from_file`], and the buffer must stay valid until the default stream has made the
/// copies that are queued here.
unsafe fn send(
    current: &Current<'_>,
    to: u64,
    file: &FilePart<'_>,
    buffer: &mut DoubleBuffer,
) -> Result<(), FileError> {
    let (context, size) = (current.context(), file.size());
    // Behind the copy of each half; one that was never recorded counts as reached.
    let ends = [Event::new(context)?, Event::new(context)?];
    let mut patience = Patience::new();
    for (turn, at) in (0..size).step_by(STEP).enumerate() {
        patience.check()?;
        let (half, end) = (turn % 2, &ends[turn % 2]);
        end.wait()?;
        let bytes = buffer.bytes_mut(half, (size - at).min(STEP));
        file.read(at, bytes)?;
        let (to, stream) = (to + at as u64, StreamHandle::DEFAULT);
        // SAFETY: guaranteed by the caller: it is the next part of the range, and the half is not
        // filled again before the event.
        unsafe { current.queue_copy_from_host(to, bytes.as_ptr(), bytes.len(), stream) }?;
        current.record(end, stream)?;
    }
    Ok(())
}

/// Copies `size` bytes of a device into a file, from `offset` on.  The file's own position does not
/// matter, and stays as it is; the file grows where it has to.
///
/// # Safety
///
/// As many bytes at `from` must be live memory of the context's device.
///
/// # Errors
///
/// [`FileError::Write`] when the file cannot be written, [`FileError::Cuda`].  The file may have been
/// written in part.
pub unsafe fn copy_to_file(
    context: &Context,
    from: u64,
    file: &impl AsFd,
    offset: u64,
    size: usize,
) -> Result<(), FileError> {
    if size == 0 {
        return Ok(());
    }
    let current = context.enter()?;
    let file = FilePart::new(file, offset, size);
    current.await_turn(StreamHandle::DEFAULT)?;
    let mut buffer = DoubleBuffer::allocate(context, size)?;
    // SAFETY: guaranteed by the caller; the buffer lives until the stream has been waited for.
    let received = unsafe { receive(&current, from, &file, &mut buffer) };
    buffer.finish(&current, received)
}

/// Writes one half to a file while the device fills the other.
///
/// # Safety
///
/// As for [`copy_to_file`], and the buffer must stay valid until the default stream has made the copies
/// that are queued here.
unsafe fn receive(
    current: &Current<'_>,
    from: u64,
    file: &FilePart<'_>,
    buffer: &mut DoubleBuffer,
) -> Result<(), FileError> {
    let (context, size) = (current.context(), file.size());
    let ends = [Event::new(context)?, Event::new(context)?];
    let mut patience = Patience::new();
    let length = |at: usize| (size - at).min(STEP);
    let begin = |turn: usize, buffer: &mut DoubleBuffer| {
        let (at, half) = (turn * STEP, turn % 2);
        if at >= size {
            return Ok(());
        }
        let (stream, bytes) = (StreamHandle::DEFAULT, buffer.bytes_mut(half, length(at)));
        // SAFETY: guaranteed by the caller: it is the next part of the range, and the half has been
        // written to the file.
        unsafe {
            current.queue_copy_to_host(bytes.as_mut_ptr(), from + at as u64, bytes.len(), stream)
        }?;
        current.record(&ends[half], stream)
    };
    begin(0, buffer)?;
    for (turn, at) in (0..size).step_by(STEP).enumerate() {
        patience.check()?;
        begin(turn + 1, buffer)?;
        ends[turn % 2].wait()?;
        file.write(at, buffer.bytes_mut(turn % 2, length(at)))?;
    }
    Ok(())
}
