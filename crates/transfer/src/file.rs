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

/// Bytes between two ranges that are as soon copied as another copy begins.
const GAP: u64 = 64 << 10;

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

/// Bytes of a file, and where they go on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileRange {
    /// Where they begin in the file.
    pub offset: u64,
    /// Their number.
    pub size: usize,
    /// Where they begin on the device.
    pub address: u64,
}

/// Copies ranges of a file to a device.  The file's own position does not matter, and stays as it is.
/// Ranges that are near each other share copies: what lies between them may become zeros.
///
/// # Safety
///
/// The device memory from the first range to the end of the last one must be live memory of the
/// context's device, and the caller's to write.  The addresses ascend, and no two ranges overlap there.
///
/// # Errors
///
/// [`FileError::Read`] when the file cannot be read or is shorter, [`FileError::Cuda`].  Some of the
/// device memory may have changed.
pub unsafe fn copy_from_file(
    context: &Context,
    file: &(impl AsFd + Sync),
    ranges: &[FileRange],
) -> Result<(), FileError> {
    let mut end = None;
    let part = |range: &FileRange| {
        let FileRange { address, size, .. } = *range;
        let is_joined = end.is_some_and(|end| address - end <= GAP);
        end = Some(address + size as u64);
        Part { address, size, is_serial: false, is_joined }
    };
    let parts: Vec<_> = ranges.iter().map(part).collect();
    let read = |(): &mut (), number: usize, at, out: &mut [u8]| {
        let begin = ranges[number].offset;
        Ok(read_at(file, begin.saturating_add(at as u64), out)?)
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
