//! Copies to the array of the host that a device array was made with.

use super::class::PyDeviceArray;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Has `to_host` copy the elements of an array to `host`.
#[pyfunction(name = "_set_writeback")]
pub(super) fn set_writeback(py: Python<'_>, array: &PyDeviceArray, host: Py<PyAny>) {
    array.writeback.get_or_init(py, || host);
}

#[pymethods]
impl PyDeviceArray {
    /// Copy the elements to the array of the host that this array was made with.
    ///
    /// Parameters
    /// ----------
    /// stream : Stream, optional
    ///     Queue the copy on this stream, as for `copy_to_host`.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the array was not made by `pyarrow_cuda_compat.memory.DeviceNDArray` with a
    ///     `writeback`; views of it have none.
    ///
    /// Examples
    /// --------
    /// >>> host = np.zeros(3)
    /// >>> array = memory.DeviceNDArray(host.shape, host.strides, host.dtype, writeback=host)
    /// >>> array.fill(1.5)  # or a kernel
    /// >>> array.to_host()
    /// >>> host
    /// array([1.5, 1.5, 1.5])
    #[pyo3(signature = (stream=None))]
    fn to_host(&self, py: Python<'_>, stream: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let Some(host) = self.writeback.get(py) else {
            return Err(PyValueError::new_err("no associated writeback array"));
        };
        self.copy_to_host(py, Some(host.bind(py)), stream, None).map(drop)
    }
}
