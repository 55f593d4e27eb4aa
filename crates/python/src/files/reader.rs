//! `BufferReader`, which reads a device buffer as a file.

use crate::errors::{OrRaise, non_negative};
use crate::pyarrow::cython_subclass::{Class, constructor, only_argument};
use crate::pyarrow::from_pyarrow::reader;
use crate::pyarrow::to_pyarrow::{open_file, wrap_buffer, wrap_slice};
use pyo3::prelude::*;

pub(crate) const CLASS: Class = Class {
    name: c"pyarrow._cuda.BufferReader",
    signature: "(obj)",
    doc: c"Reads a device buffer as a file.\n\
        \n\
        `read` and `readinto` copy to the host.  `read_buffer` returns slices that stay\n\
        on the device.  pyarrow's IPC readers get such slices for the data of batches;\n\
        metadata, and whatever else they read, is copied to the host.\n\
        \n\
        Parameters\n\
        ----------\n\
        obj : CudaBuffer\n\
        \x20   The buffer to read; the reader retains it even after it is closed.\n\
        \n\
        Raises\n\
        ------\n\
        TypeError\n\
        \x20   If `obj` is not a CudaBuffer.\n\
        \n\
        Examples\n\
        --------\n\
        >>> from pyarrow import cuda\n\
        >>> ctx = cuda.Context(0)\n\
        >>> reader = cuda.BufferReader(ctx.buffer_from_data(b\"one two\"))\n\
        >>> reader.size(), reader.read(3)\n\
        (7, b'one')\n\
        >>> reader.read_buffer().to_pybytes()\n\
        b' two'",
    new: constructor!(|class, arguments, keywords| {
        open_file(class, &only_argument("BufferReader", "obj", arguments, keywords)?, "obj", false)
    }),
};

/// The methods of `BufferReader`; `self` is an object of that class.
#[pyclass(frozen, subclass, name = "BufferReader", module = "pyarrow._cuda")]
pub(crate) struct Methods;

#[pymethods]
impl Methods {
    /// Return the next bytes as a slice of the device buffer.
    ///
    /// Parameters
    /// ----------
    /// nbytes : int, optional
    ///     How many bytes; by default, and at most, all that remain.
    ///
    /// Returns
    /// -------
    /// cbuf : CudaBuffer
    ///     Shares the memory.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `nbytes` is negative, or the file is closed.
    ///
    /// Examples
    /// --------
    /// >>> reader = cuda.BufferReader(ctx.buffer_from_data(b"head body"))
    /// >>> reader.seek(5)
    /// 5
    /// >>> part = reader.read_buffer(4)
    /// >>> part.to_pybytes(), part.is_cpu
    /// (b'body', False)
    #[pyo3(signature = (nbytes=None))]
    fn read_buffer<'py>(
        slf: &Bound<'py, Self>,
        nbytes: Option<i64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        slf.call_method0("_assert_readable")?;
        let size = nbytes.map_or(Ok(usize::MAX), |nbytes| non_negative("nbytes", nbytes))?;
        let reader = reader(slf)?;
        let part = py.detach(|| reader.read_buffer(size)).or_raise(py)?;
        let whole = wrap_buffer(py, reader.buffer().clone())?;
        wrap_slice(&whole, part)
    }
}
