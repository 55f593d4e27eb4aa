//! The protocols by which other libraries and other processes take a device array.

use super::class::PyDeviceArray;
use crate::errors::OrRaise;
use crate::exchange::array_interface;
use crate::exchange::dlpack::export::{self, Request};
use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The CUDA array interface of an array whose elements need not be aligned, for Numba, which knows that.
#[pyfunction(name = "_interface_of")]
pub(super) fn interface_of<'py>(
    py: Python<'py>,
    array: &PyDeviceArray,
) -> PyResult<Bound<'py, PyDict>> {
    array.check_exchangeable(py)?;
    array_interface::to_dict(py, &array.array, &array.dtype)
}

#[pymethods]
impl PyDeviceArray {
    /// The array in version 3 of the CUDA array interface.
    ///
    /// Waits for work queued on the legacy default stream.
    ///
    /// Returns
    /// -------
    /// dict
    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let alignment = self.dtype.alignment(py)?;
        self.array.check_aligned(alignment).or_raise(py)?;
        interface_of(py, self)
    }

    /// Return the array in a DLPack capsule.
    ///
    /// Parameters
    /// ----------
    /// stream, max_version, dl_device, copy : optional
    ///     As for `CudaBuffer.__dlpack__`.
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
        self.check_exchangeable(py)?;
        if self.array.element().to_dlpack().is_err() {
            return Err(PyBufferError::new_err(format!(
                "DLPack cannot describe elements of dtype {}, only booleans and numbers in this \
                 machine's byte order: array.view(dtype) interprets the same bytes as such",
                self.dtype.to_numpy(py)?
            )));
        }
        let request = Request { stream, max_version, dl_device, copy };
        export::to_capsule(py, &self.array, &request)
    }

    /// The device of the array, in DLPack's numbers.
    ///
    /// Returns
    /// -------
    /// tuple of int
    ///     2 for CUDA, and the device's number.
    fn __dlpack_device__(&self) -> (i32, u32) {
        export::device(self.array.buffer())
    }

    fn __copy__(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        Ok(slf.call_method0("copy")?.unbind())
    }

    fn __deepcopy__(slf: &Bound<'_, Self>, _memo: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Self::__copy__(slf)
    }
}
