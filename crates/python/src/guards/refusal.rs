//! The error for data on a device where pyarrow works in host memory only.

use crate::pyarrow::from_pyarrow::{is_buffer, is_of};
use crate::pyarrow::pyarrow;
use pyo3::exceptions::PyNotImplementedError;
use pyo3::prelude::*;

/// Raises the error.  `function` is the name of the function that reads the data; the text leaves it out if it is
/// pyarrow's own check, with which many methods begin.  `on_device` says how to compute on the device.
#[pyfunction(name = "_refuse")]
#[pyo3(signature = (data, function, on_device=None))]
pub(super) fn refuse(
    data: &Bound<'_, PyAny>,
    function: &str,
    on_device: Option<&str>,
) -> PyResult<()> {
    let function = (!function.ends_with("._assert_cpu")).then_some(function);
    Err(refusal(data, function, on_device)?)
}

pub(super) fn refusal(
    data: &Bound<'_, PyAny>,
    function: Option<&str>,
    on_device: Option<&str>,
) -> PyResult<PyErr> {
    let reads =
        function.map(|name| format!("{name} reads it in host memory. ")).unwrap_or_default();
    let way_out = match is_buffer(data)? {
        true => "pyarrow.cuda.CudaBuffer.from_buffer(buffer).copy_to_host() copies it there, and \
             pyarrow.cuda.BufferWriter writes to device memory"
            .to_owned(),
        false => format!(
            "copy_to(\"cpu\") copies {} there; {}",
            noun(data)?,
            on_device.unwrap_or("CuPy and cuDF compute on the device")
        ),
    };
    Ok(PyNotImplementedError::new_err(format!(
        "Implemented only for data on CPU device: {reads}{way_out}"
    )))
}

fn noun(data: &Bound<'_, PyAny>) -> PyResult<&'static str> {
    let lib = &pyarrow(data.py())?.lib;
    let nouns = [
        (&lib.array, "the array"),
        (&lib.chunked_array, "the chunked array"),
        (&lib.record_batch, "the record batch"),
        (&lib.table, "the table"),
    ];
    let found = nouns.into_iter().find(|(class, _)| is_of(data, class));
    Ok(found.map_or("arrays, record batches and tables", |(_, noun)| noun))
}
