//! `IpcMemHandle`.

use crate::errors::{OrRaise, incorrect_type};
use crate::pyarrow::from_pyarrow::{check_pool, host_bytes, host_bytes_mut, span};
use crate::pyarrow::pyarrow;
use arrow_cuda_ipc::IpcMemHandle;
use pyo3::prelude::*;

/// Identifies device memory of one process to another on the same machine.
///
/// Get one from `CudaBuffer.export_for_ipc`, or from a serialized handle; do not call
/// the constructor.  It does not own the memory, which stays valid until the process that
/// exported it ends.  Handles of the same bytes are equal, and have the same hash; the text
/// of one does not show what is needed to open the memory.
///
/// Examples
/// --------
/// >>> handle = ctx.buffer_from_data(b"shared").export_for_ipc()
/// >>> handle
/// <pyarrow.cuda.IpcMemHandle size=6 offset=0>
#[pyclass(frozen, eq, hash, subclass, weakref, name = "IpcMemHandle", module = "pyarrow._cuda")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct PyIpcMemHandle {
    pub(crate) handle: IpcMemHandle,
}

#[pymethods]
impl PyIpcMemHandle {
    // Without the driver's own handle: who knows that can open the memory.
    fn __repr__(&self) -> String {
        let offset = self.handle.allocation().map_or(0, |(_, offset)| offset);
        format!("<pyarrow.cuda.IpcMemHandle size={} offset={offset}>", self.handle.size())
    }

    /// Read a handle that another process has serialized.
    ///
    /// Parameters
    /// ----------
    /// opaque_handle : Buffer
    ///     The result of `serialize`.
    ///
    /// Returns
    /// -------
    /// ipc_handle : IpcMemHandle
    ///     A handle for `Context.open_ipc_buffer`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `opaque_handle` is not a Buffer; `pyarrow.py_buffer` makes one of bytes.
    /// pyarrow.ArrowInvalid
    ///     If the handle has another length than `serialize` gives, or its size is negative.
    ///
    /// Examples
    /// --------
    /// >>> sent = ctx.buffer_from_data(b"shared").export_for_ipc().serialize()
    /// >>> received = cuda.IpcMemHandle.from_buffer(sent)
    /// >>> received.serialize().equals(sent)
    /// True
    #[staticmethod]
    fn from_buffer(opaque_handle: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = opaque_handle.py();
        if span(opaque_handle).is_none() {
            return Err(incorrect_type("opaque_handle", "pyarrow.lib.Buffer", opaque_handle));
        }
        let handle = IpcMemHandle::from_bytes(host_bytes(opaque_handle)?).or_raise(py)?;
        Ok(Self { handle })
    }

    /// Write the handle to a buffer, to send it to another process.
    ///
    /// Parameters
    /// ----------
    /// pool : MemoryPool, optional
    ///     Where to allocate the buffer; the default pool if not given.
    ///
    /// Returns
    /// -------
    /// buf : Buffer
    ///     72 bytes on the host; 80 for a slice that does not begin at the start of
    ///     its allocation, and 8 for an empty buffer.
    ///
    /// Examples
    /// --------
    /// >>> handle = ctx.buffer_from_data(b"shared").export_for_ipc()
    /// >>> len(handle.serialize().to_pybytes())
    /// 72
    #[pyo3(signature = (pool=None))]
    fn serialize<'py>(
        &self,
        py: Python<'py>,
        pool: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        check_pool("pool", pool.as_ref())?;
        let bytes = self.handle.to_bytes();
        let buffer = pyarrow(py)?.lib.allocate_buffer.bind(py).call1((bytes.len(), pool))?;
        for (out, byte) in host_bytes_mut(&buffer, bytes.len())?.iter_mut().zip(bytes) {
            out.write(byte);
        }
        Ok(buffer)
    }
}
