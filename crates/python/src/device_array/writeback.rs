//! Copies to the host array that `memory.DeviceNDArray` was given for them.

use super::class::PyDeviceArray;
use crate::interpreter::call_out;
use crate::package::package;
use pyo3::prelude::*;

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
    /// >>> import numpy as np
    /// >>> from pyarrow_cuda_compat import memory
    /// >>> host = np.zeros(3)
    /// >>> array = memory.DeviceNDArray(host.shape, host.strides, host.dtype, writeback=host)
    /// >>> array.fill(1.5)  # or a kernel
    /// >>> array.to_host()
    /// >>> host
    /// array([1.5, 1.5, 1.5])
    #[pyo3(signature = (stream=None))]
    fn to_host(slf: &Bound<'_, Self>, stream: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        call_out(package(slf.py())?.array_to_host.bind(slf.py()), (slf, stream)).map(drop)
    }
}
