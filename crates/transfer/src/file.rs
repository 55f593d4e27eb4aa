//! Copies of files to a device, and from it.
//!
//! Several threads read a file straight into pinned memory, so its bytes are copied once on the host, and no
//! mapping of the file can fault.

use crate::positioned::{ReadError, WriteError, read_at, write_at};
use crate::producer::{Part, copy_from_producer};
use crate::staging::{Piece, Stretch, Task, copy_stretches};
use arrow_cuda_context::Context;
use arrow_cuda_driver::CudaError;
use std::os::fd::AsFd;

/// Bytes that one thread writes at a time.
const STRETCH: usize = 1 << 20;

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
    file: &(impl AsFd + Sync),
    offset: u64,
    size: usize,
) -> Result<(), FileError> {
    let parts = [Part { address: to, size, is_serial: false, is_joined: false }];
    let read = |(): &mut (), _, at, out: &mut [u8]| {
        Ok(read_at(file, offset.saturating_add(at as u64), out)?)
    };
    // SAFETY: guaranteed by the caller.
    unsafe { copy_from_producer(context, &parts, read, &mut |_| Ok(())) }
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
    file: &(impl AsFd + Sync),
    offset: u64,
    size: usize,
) -> Result<(), FileError> {
    let stretch =
        |at| Stretch { address: from + at as u64, size: STRETCH.min(size - at), is_serial: false };
    let stretches: Vec<_> = (0..size).step_by(STRETCH).map(stretch).collect();
    let write = |(): &mut (), piece: Piece, bytes: &mut [u8]| {
        let at = piece.stretch * STRETCH + piece.at;
        Ok(write_at(file, offset.saturating_add(at as u64), bytes)?)
    };
    // SAFETY: guaranteed by the caller.
    unsafe { copy_stretches(context, Task::Download, &stretches, write, &mut |_| Ok(())) }
}
