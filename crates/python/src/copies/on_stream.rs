//! Copies of a `CudaBuffer` on a stream.
//!
//! Queued copies retain the Python objects whose memory they use.  The owners of completed copies
//! are dropped with the GIL.

use crate::errors::{OrRaise, out_of_range};
use crate::interpreter::Owner;
use crate::pyarrow::from_pyarrow::{host_bytes, host_bytes_mut};
use crate::signals::copy_on_stream_for_signals;
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::Stream;
use pyo3::prelude::*;

/// Copies to the first `size` bytes of a `pyarrow.Buffer` on the host.
pub(crate) fn to_host(
    stream: &Stream,
    buffer: &DeviceBuffer,
    position: u64,
    out: &Bound<'_, PyAny>,
    size: u64,
) -> PyResult<()> {
    let py = out.py();
    copy_on_stream_for_signals(py, stream, || {
        let owner = Box::new(Owner::new(out.clone().unbind()));
        let bytes = host_bytes_mut(out, size)?;
        let queued = py.detach(|| {
            let (address, size) = (bytes.as_mut_ptr().cast(), bytes.len());
            // SAFETY: the owner keeps the memory valid; other threads may read it meanwhile, as
            // everywhere in Python.
            unsafe { buffer.queue_copy_to_host(stream, position, address, size, owner) }
        });
        queued.or_raise(py).map(drop)
    })
}

/// Copies the first `size` bytes of a `pyarrow.Buffer` on the host.
pub(crate) fn from_host(
    stream: &Stream,
    buffer: &DeviceBuffer,
    position: u64,
    data: &Bound<'_, PyAny>,
    size: u64,
) -> PyResult<()> {
    let py = data.py();
    copy_on_stream_for_signals(py, stream, || {
        let owner = Box::new(Owner::new(data.clone().unbind()));
        let bytes = host_bytes(data)?.get(..size as usize).ok_or_else(|| out_of_range("nbytes"))?;
        let size = bytes.len();
        let queued = py.detach(|| {
            // SAFETY: the owner keeps the memory valid; other threads may write to it meanwhile, as
            // everywhere in Python.
            unsafe { buffer.queue_copy_from_host(stream, position, bytes.as_ptr(), size, owner) }
        });
        queued.or_raise(py).map(drop)
    })
}

/// Copies another device buffer.
pub(crate) fn from_device(
    py: Python<'_>,
    stream: &Stream,
    buffer: &DeviceBuffer,
    position: u64,
    data: &DeviceBuffer,
) -> PyResult<()> {
    py.detach(|| buffer.queue_copy_from_device(stream, position, data)).or_raise(py).map(drop)
}

/// Sets every byte.
pub(crate) fn fill(
    py: Python<'_>,
    stream: &Stream,
    buffer: &DeviceBuffer,
    value: u8,
) -> PyResult<()> {
    py.detach(|| buffer.queue_fill(stream, value)).or_raise(py).map(drop)
}
