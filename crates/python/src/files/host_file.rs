//! Copies between files and device buffers.
//!
//! The Python package opens the files and chooses the ranges; see `_methods/files.py`.

use super::regular_file::duplicate;
use crate::errors::{non_negative, of_descriptor, of_file};
use crate::interpreter::call_out;
use crate::pyarrow::from_pyarrow::cuda_buffer_argument;
use crate::signals::copy_for_signals;
use arrow_cuda_buffer::Error;
use arrow_cuda_context::Context;
use arrow_cuda_host_io::HostFile;
use pyo3::prelude::*;

/// The bytes that are copied between two calls of a progress callback.
const PIECE: usize = 64 << 20;

/// Copies an open file, from `offset` on, into a whole buffer.  Errors name the file as `name` does.
#[pyfunction(name = "_copy_from_file")]
pub(super) fn copy_from_file(
    buffer: &Bound<'_, PyAny>,
    descriptor: i32,
    name: &Bound<'_, PyAny>,
    offset: u64,
    direct: Option<bool>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let (py, buffer) = (buffer.py(), cuda_buffer_argument(buffer)?);
    let size = buffer.len();
    let file = duplicate(descriptor).map_err(|error| of_descriptor(&error, name))?;
    let file = py.detach(|| HostFile::to_read(file, offset, size as u64, direct));
    let copy = |at, size| file.copy_to_device(offset.saturating_add(at as u64), buffer, at, size);
    copy_pieces(buffer.context(), offset, size, progress, name, copy)
}

/// Copies ranges of an open file, from a byte to another one, to the same places of a buffer.
#[pyfunction(name = "_copy_ranges_from_file")]
pub(super) fn copy_ranges_from_file(
    buffer: &Bound<'_, PyAny>,
    descriptor: i32,
    name: &Bound<'_, PyAny>,
    ranges: Vec<(u64, u64)>,
) -> PyResult<()> {
    let (py, buffer) = (buffer.py(), cuda_buffer_argument(buffer)?);
    let file = duplicate(descriptor).map_err(|error| of_descriptor(&error, name))?;
    let ranges: Vec<_> = ranges.into_iter().map(|(start, end)| start..end).collect();
    copy_for_signals(py, buffer.context(), || {
        let copied = py.detach(|| buffer.copy_ranges_from_file(&file, &ranges));
        copied.map_err(|error| of_file(py, error, name))
    })
}

/// Copies a whole buffer into an open file, from `offset` on.
#[pyfunction(name = "_copy_to_file")]
pub(super) fn copy_to_file(
    buffer: &Bound<'_, PyAny>,
    descriptor: i32,
    name: &Bound<'_, PyAny>,
    offset: u64,
    direct: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let buffer = cuda_buffer_argument(buffer)?;
    let file = duplicate(descriptor).map_err(|error| of_descriptor(&error, name))?;
    let file = HostFile::to_write(file, direct);
    let copy = |at, size| file.copy_from_device(offset.saturating_add(at as u64), buffer, at, size);
    copy_pieces(buffer.context(), offset, buffer.len(), progress, name, copy)
}

/// Whether most of a part of an open file is in the page cache.
#[pyfunction(name = "_is_cached")]
pub(super) fn is_cached(descriptor: i32, offset: u64, nbytes: u64) -> PyResult<bool> {
    Ok(HostFile::is_cached(&duplicate(descriptor)?, offset, nbytes))
}

/// Checks the options of `Context.buffer_from_file`.
#[pyfunction(name = "_reading_options")]
pub(super) fn reading_options<'py>(
    offset: i64,
    nbytes: Option<i64>,
    direct: Option<bool>,
    kvikio: Option<bool>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<ReadingOptions<'py>> {
    let offset = non_negative("offset", offset)? as u64;
    let nbytes = nbytes.map(|nbytes| non_negative("nbytes", nbytes)).transpose()?;
    Ok((offset, nbytes, direct, kvikio, progress))
}

type ReadingOptions<'py> =
    (u64, Option<usize>, Option<bool>, Option<bool>, Option<Bound<'py, PyAny>>);

/// Makes a copy, in pieces if there is a callback, which is called after each.
fn copy_pieces(
    context: &Context,
    offset: u64,
    size: usize,
    progress: Option<&Bound<'_, PyAny>>,
    name: &Bound<'_, PyAny>,
    copy: impl Fn(usize, usize) -> Result<(), Error> + Sync,
) -> PyResult<()> {
    let py = name.py();
    let copy = |at, size| {
        copy_for_signals(py, context, || {
            py.detach(|| copy(at, size)).map_err(|error| of_file(py, error, name))
        })
    };
    let Some(progress) = progress else { return copy(0, size) };
    let mut done = 0;
    while done < size {
        // Pieces end at whole pages of the file.
        let piece = PIECE - offset.saturating_add(done as u64) as usize % PIECE;
        let piece = piece.min(size - done);
        copy(done, piece)?;
        done += piece;
        call_out(progress, (done, size))?;
    }
    if size == 0 {
        call_out(progress, (0, 0))?;
    }
    Ok(())
}
