//! `HostBuffer` and `new_host_buffer`.

use crate::errors::{ByteCount, OrRaise, expected, non_negative, pyarrow_exception};
use crate::pyarrow::cython_subclass::{Class, constructor};
use crate::pyarrow::from_pyarrow::{check_has_bytes, span};
use crate::pyarrow::pyarrow;
use crate::pyarrow::to_pyarrow::{wrap_host_buffer, wrap_host_slice, wrap_memory_of};
use crate::tracing::{Area, Facts, traced};
use arrow_cuda_context::{Context, Device};
use arrow_cuda_host_io::HostBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

pub(crate) const CLASS: Class = Class {
    name: c"pyarrow._cuda.HostBuffer",
    signature: "()",
    doc: c"Pinned (page-locked) host memory, which a GPU can access.\n\
        \n\
        Use `new_host_buffer` to make one, not the constructor.  It is a mutable\n\
        `pyarrow.Buffer`, so NumPy can use the memory.  Copies between it and a device\n\
        are the fastest.\n\
        \n\
        The memory is released with the last buffer or array over it.  The process caches\n\
        released memory for its next host buffers: see `pinned_memory_stats`.\n\
        \n\
        Examples\n\
        --------\n\
        >>> from pyarrow import cuda\n\
        >>> import numpy as np\n\
        >>> pinned = cuda.new_host_buffer(4)\n\
        >>> np.frombuffer(pinned, dtype=np.uint8)[:] = list(b\"data\")\n\
        >>> pinned.size, pinned.to_pybytes()\n\
        (4, b'data')",
    new: constructor!(|_, _, _| Err(PyTypeError::new_err(
        "Do not call HostBuffer's constructor directly, use `cuda.new_host_buffer` function \
         instead."
    ))),
};

/// The methods of `HostBuffer`; `self` is an object of that class.
#[pyclass(frozen, subclass, name = "HostBuffer", module = "pyarrow._cuda")]
pub(crate) struct Methods;

#[pymethods]
impl Methods {
    /// Return a slice of the buffer, which shares its memory and is pinned too.
    ///
    /// Parameters
    /// ----------
    /// offset : int, default 0
    ///     Where the slice begins, in bytes.
    /// length : int, optional
    ///     The size of the slice in bytes; by default all bytes from `offset` on.
    ///
    /// Returns
    /// -------
    /// sliced : HostBuffer
    ///     Retains the memory.
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     If the slice is outside the buffer.
    ///
    /// Examples
    /// --------
    /// >>> part = cuda.new_host_buffer(16).slice(4, 8)
    /// >>> type(part).__name__, part.size
    /// ('HostBuffer', 8)
    #[pyo3(signature = (offset=0, length=None))]
    fn slice<'py>(
        slf: &Bound<'py, Self>,
        offset: i64,
        length: Option<i64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if offset < 0 {
            return Err(pyo3::exceptions::PyIndexError::new_err("Offset must be non-negative"));
        }
        let size = span(slf).ok_or_else(|| expected("HostBuffer", slf))?.size;
        let length = length.unwrap_or(size.saturating_sub(offset).max(0));
        wrap_host_slice(slf, offset, length)
    }

    /// Whether two buffers hold exactly the same bytes, wherever the other one is.
    ///
    /// Parameters
    /// ----------
    /// other : Buffer
    ///     A buffer on the host or on a device.
    ///
    /// Returns
    /// -------
    /// are_equal : bool
    ///     False for buffers of different sizes.
    ///
    /// Examples
    /// --------
    /// >>> pinned = cuda.new_host_buffer(4)
    /// >>> copied = cuda.Context(0).buffer_from_data(b"same").copy_to_host(buf=pinned)
    /// >>> pinned.equals(cuda.Context(0).buffer_from_data(b"same"))
    /// True
    fn equals<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        check_has_bytes(other)?;
        if span(other).is_some_and(|span| !span.is_cpu) {
            return wrap_memory_of(other)?.call_method1("equals", (slf,));
        }
        pyarrow(py)?.lib.buffer.bind(py).call_method1("equals", (slf, other))
    }
}

/// Allocate pinned (page-locked) host memory.
///
/// Parameters
/// ----------
/// size : int
///     The number of bytes.
/// device : int, default 0
///     The GPU whose context allocates it; every device can access it.
///
/// Returns
/// -------
/// dbuf : HostBuffer
///     Owns the memory, which is mutable, and may hold bytes of earlier host buffers of this
///     process.
///
/// Raises
/// ------
/// pyarrow.ArrowInvalid
///     If the device does not exist.
/// ValueError
///     If `size` is negative.
/// OSError
///     If the driver cannot pin that much memory.
///
/// Examples
/// --------
/// >>> pinned = cuda.new_host_buffer(32)
/// >>> array = np.frombuffer(pinned, dtype=np.float64)
/// >>> array[:] = 0.5
/// >>> cuda.Context(0).buffer_from_data(pinned).equals(pinned)
/// True
#[pyfunction(signature = (size, device=0))]
pub(crate) fn new_host_buffer(
    py: Python<'_>,
    size: ByteCount,
    device: i32,
) -> PyResult<Bound<'_, PyAny>> {
    let size = non_negative("size", size.0)?;
    let count = py.detach(Device::count).or_raise(py)?;
    let Some(number) = u32::try_from(device).ok().filter(|number| *number < count) else {
        let text = format!(
            "Invalid Cuda device number {device} (should be between 0 and {}, inclusive)",
            i64::from(count) - 1
        );
        return Err(pyarrow_exception(py, "ArrowInvalid", text));
    };
    let allocate = || {
        let buffer = py.detach(|| HostBuffer::allocate(&Context::primary(number)?, size));
        wrap_host_buffer(py, buffer.or_raise(py)?)
    };
    let facts = |_: &_| Facts::new(size, number);
    traced(py, Area::Allocation, "new_host_buffer", allocate, facts)
}
