//! `DeviceTensor`: device memory with an element type and a shape, for other libraries.

use crate::errors::OrRaise;
use crate::exchange::dlpack::export::{self, Request};
use crate::exchange::{array_interface, element_type};
use crate::pyarrow::from_pyarrow::cuda_buffer_argument;
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_numba_bridge::{Error, Layout};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// Device memory with an element type and a shape, for other libraries.
///
/// It only exports DLPack and the CUDA array interface: CuPy, PyTorch, JAX,
/// Numba and others make their own arrays of it, without a copy.  It
/// retains the memory, and so do they.
///
/// Parameters
/// ----------
/// buffer : CudaBuffer
///     The memory; the elements begin at its first byte.
/// typestr : str or numpy.dtype
///     The type of the elements.  A string is a typestr, NumPy's short form:
///     ``i``, ``u`` or ``f`` for signed, unsigned and floating-point numbers,
///     and their size in bytes: ``"<f4"``, ``"|u1"``.  `numpy.dtype` converts
///     other values, such as ``numpy.float32`` or ``array.dtype``.
/// shape : sequence of int
///     The number of elements in each dimension, in row-major order.
///
/// Raises
/// ------
/// ValueError
///     If the elements cannot have that type, or do not fit into the buffer.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> from pyarrow import cuda
/// >>> from pyarrow_cuda_compat import DeviceTensor
/// >>> buf = cuda.Context(0).buffer_from_data(np.arange(6, dtype=np.float32))
/// >>> tensor = DeviceTensor(buf, "<f4", (2, 3))
/// >>> np.from_dlpack(tensor, device="cpu")
/// array([[0., 1., 2.],
///        [3., 4., 5.]], dtype=float32)
#[pyclass(frozen, module = "pyarrow_cuda_compat")]
pub(crate) struct DeviceTensor {
    buffer: DeviceBuffer,
    layout: Layout,
}

#[pymethods]
impl DeviceTensor {
    #[new]
    fn new(
        buffer: &Bound<'_, PyAny>,
        typestr: &Bound<'_, PyAny>,
        shape: Vec<i64>,
    ) -> PyResult<Self> {
        let py = buffer.py();
        let buffer = cuda_buffer_argument(buffer)?;
        let layout = Layout::row_major(element_type::of_tensor(typestr)?, shape).or_raise(py)?;
        let buffer = buffer.slice(0, layout.size());
        let buffer = buffer.map_err(|error| Error::Invalid(error.to_string())).or_raise(py)?;
        Ok(Self { buffer, layout })
    }

    /// The number of elements in each dimension.
    ///
    /// Returns
    /// -------
    /// tuple of int
    ///
    /// Examples
    /// --------
    /// >>> from pyarrow import cuda
    /// >>> from pyarrow_cuda_compat import DeviceTensor
    /// >>> DeviceTensor(cuda.Context(0).new_buffer(24), "<f4", (2, 3)).shape
    /// (2, 3)
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.layout.shape())
    }

    /// The type of the elements, as a typestr.
    ///
    /// Returns
    /// -------
    /// str
    ///
    /// Examples
    /// --------
    /// >>> from pyarrow import cuda
    /// >>> from pyarrow_cuda_compat import DeviceTensor
    /// >>> DeviceTensor(cuda.Context(0).new_buffer(24), "<f4", (2, 3)).typestr
    /// '<f4'
    #[getter]
    fn typestr(&self) -> String {
        self.layout.element().to_string()
    }

    /// The tensor in version 3 of the CUDA array interface.
    ///
    /// Waits for work queued on the legacy default stream.
    ///
    /// Returns
    /// -------
    /// dict
    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        array_interface::to_dict(py, &self.buffer, &self.layout)
    }

    /// Return the tensor in a DLPack capsule.
    ///
    /// Parameters
    /// ----------
    /// stream : int, optional
    ///     The consumer's stream, which is made to wait for all work queued on the
    ///     legacy default stream so far; -1 to leave the order to the caller.
    /// max_version : tuple of int, optional
    ///     The newest version that the consumer supports.
    /// dl_device : tuple of int, optional
    ///     The device for the tensor: ``(1, 0)`` is the host, ``(2, n)`` a CUDA device.
    /// copy : bool, optional
    ///     True to always copy; False to never copy.
    ///
    /// Returns
    /// -------
    /// capsule
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<i64>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let request = Request { stream, max_version, dl_device, copy };
        export::to_capsule(py, &self.buffer, self.layout.clone(), &request)
    }

    /// The device of the tensor, in DLPack's numbers.
    ///
    /// Returns
    /// -------
    /// tuple of int
    ///     2 for CUDA, and the device's number.
    fn __dlpack_device__(&self) -> (i32, u32) {
        export::device(&self.buffer)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!(
            "<pyarrow_cuda_compat.DeviceTensor address={:#x} typestr='{}' shape={}>",
            self.buffer.address(),
            self.typestr(),
            self.shape(py)?
        ))
    }
}
