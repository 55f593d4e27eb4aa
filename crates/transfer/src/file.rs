//! Copies of files to a device.
//!
//! The engine's threads read a file straight into the staging slots, so its bytes are copied once on
//! the host, and no mapping of the file can fault.

use crate::Staging;
use crate::engine::{FilePart, ReadError, run_file};
use arrow_cuda_context::{Context, Current, Event, StreamHandle};
use arrow_cuda_driver::{CudaError, Patience};
use std::fmt;
use std::os::fd::AsFd;

/// Why a file could not be copied to a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileError {
    /// The driver failed, or the context is gone.
    Cuda(CudaError),
    /// The file could not be read.
    Read(ReadError),
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cuda(error) => error.fmt(f),
            Self::Read(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for FileError {}

impl From<CudaError> for FileError {
    fn from(error: CudaError) -> Self {
        Self::Cuda(error)
    }
}

impl From<ReadError> for FileError {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

/// How much one thread reads at a time where no others help.  It stays in the processor's caches
/// until the device reads it.
const STEP: usize = 1 << 20;

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
    if unsafe { run_file(&current, FilePart::new(file, offset, size), to) }?.is_some() {
        return Ok(());
    }
    let file = FilePart::new(file, offset, size);
    current.await_turn(StreamHandle::DEFAULT)?;
    let mut staging = Staging::allocate(context, size.min(2 * STEP))?;
    // SAFETY: guaranteed by the caller; the staging memory lives until the stream has been waited for.
    let sent = unsafe { send(&current, to, &file, staging.bytes_mut()) };
    // Also after a failure, some of the memory may be on its way.
    let waited = current.synchronize_stream(StreamHandle::DEFAULT);
    sent.and(waited.map_err(FileError::from))
}

/// Reads a file into one half of the staging memory while the device copies the other.
///
/// # Safety
///
/// As for [`copy_from_file`], and the staging memory must stay valid until the default stream has made
/// the copies that are queued here.
unsafe fn send(
    current: &Current<'_>,
    to: u64,
    file: &FilePart<'_>,
    staging: &mut [u8],
) -> Result<(), FileError> {
    let (context, size) = (current.context(), file.size());
    // Behind the copy of each half; one that was never recorded counts as reached.
    let ends = [Event::new(context)?, Event::new(context)?];
    let mut patience = Patience::new();
    for (turn, at) in (0..size).step_by(STEP).enumerate() {
        patience.check()?;
        let (half, end) = (turn % 2, &ends[turn % 2]);
        end.wait()?;
        let bytes = &mut staging[half * STEP..][..(size - at).min(STEP)];
        file.read(at, bytes)?;
        let (to, stream) = (to + at as u64, StreamHandle::DEFAULT);
        // SAFETY: guaranteed by the caller: it is the next part of the range, and the half is not
        // filled again before the event.
        unsafe { current.queue_copy_from_host(to, bytes.as_ptr(), bytes.len(), stream) }?;
        current.record(end, stream)?;
    }
    Ok(())
}
