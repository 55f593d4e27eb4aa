//! The error for data on a device where pyarrow works in host memory only.

use crate::pyarrow::from_pyarrow::is_buffer;
use pyo3::exceptions::PyNotImplementedError;
use pyo3::prelude::*;

/// Raises the error.  `function` is the name of the function that reads the data; the text leaves it out if it is
/// pyarrow's own check, with which many methods begin.
#[pyfunction(name = "_refuse")]
pub(super) fn refuse(data: &Bound<'_, PyAny>, function: &str) -> PyResult<()> {
    let function = (!function.ends_with("._assert_cpu")).then_some(function);
    Err(refusal(is_buffer(data)?, function))
}

pub(super) fn refusal(is_buffer: bool, function: Option<&str>) -> PyErr {
    let reads =
        function.map(|name| format!("{name} reads it in host memory. ")).unwrap_or_default();
    let way_out = match is_buffer {
        true => {
            "pyarrow.cuda.CudaBuffer.from_buffer(buffer).copy_to_host() copies it there, and \
             pyarrow.cuda.BufferWriter writes to device memory"
        }
        false => {
            "copy_to(pyarrow.default_cpu_memory_manager()) copies an array or a record batch there; \
             CuPy and cuDF compute on the device"
        }
    };
    PyNotImplementedError::new_err(format!(
        "Implemented only for data on CPU device: {reads}{way_out}"
    ))
}
