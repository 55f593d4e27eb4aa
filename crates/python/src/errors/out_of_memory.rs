//! `OutOfMemoryError`: the driver cannot allocate device memory or pinned host memory.

use crate::registration::PACKAGE;
use arrow_cuda_context::Context;
use arrow_cuda_driver::{CallError, CudaResult, codes};
use pyo3::exceptions::{PyMemoryError, PyOSError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

const DOC: &str = "The driver cannot allocate the requested memory.

This is an `OSError` with the driver's message first, as `pyarrow.cuda` raises it,
and a `MemoryError` too.  After the driver's message it says how many bytes were
requested and, for device memory, how many the device has.  The driver does not
allocate pageable host memory: if that runs out, pyarrow raises its own
`ArrowMemoryError`.

Examples
--------
>>> try:
...     cuda.Context(0).new_buffer(2**60)
... except MemoryError as error:
...     print(str(error).split(\"; \")[0])
Cuda error 2 in function 'cuMemAlloc': [CUDA_ERROR_OUT_OF_MEMORY] out of memory
";

static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// The class, which is made once.
pub(crate) fn class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    let class = CLASS.get_or_try_init(py, || {
        let bases = (py.get_type::<PyOSError>(), py.get_type::<PyMemoryError>());
        let namespace = PyDict::new(py);
        namespace.set_item("__module__", PACKAGE)?;
        namespace.set_item("__doc__", DOC)?;
        let made = py.get_type::<PyType>().call1(("OutOfMemoryError", bases, namespace))?;
        Ok::<_, PyErr>(made.cast_into::<PyType>()?.unbind())
    })?;
    Ok(class.bind(py))
}

pub(super) fn exception(py: Python<'_>, text: String) -> PyErr {
    match class(py) {
        Ok(class) => PyErr::from_type(class.clone(), text),
        Err(error) => error,
    }
}

pub(super) fn is_out_of_memory(error: &CallError) -> bool {
    error.code == codes::OUT_OF_MEMORY
}

pub(super) fn requested(error: &CallError) -> Option<String> {
    let bytes = error.requested_bytes.filter(|_| is_out_of_memory(error))?;
    Some(format!("{bytes} bytes were requested"))
}

/// How much was requested, and what the context's device has.
pub(super) fn available<'py>(
    py: Python<'py>,
    context: &Context,
) -> impl FnOnce(&CallError) -> Option<String> {
    move |error| {
        let requested = requested(error)?;
        let device = context.device();
        let memory = || -> CudaResult<_> { Ok((context.free_memory()?, device.total_memory()?)) };
        Some(match py.detach(memory) {
            Ok((free, total)) => format!(
                "{requested}, and {free} of {total} bytes are free on device {}",
                device.number()
            ),
            Err(_) => requested,
        })
    }
}
