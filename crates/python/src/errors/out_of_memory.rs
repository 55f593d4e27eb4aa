//! `OutOfMemoryError`: the driver cannot allocate device memory or pinned host memory.

use crate::names::PACKAGE;
use arrow_cuda_context::Context;
use arrow_cuda_driver::{CallError, CudaResult, codes};
use pyo3::exceptions::{PyMemoryError, PyOSError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

const DOC: &str = "The driver does not have the memory that was asked for.

An `OSError`, as `pyarrow.cuda` raises it, with the driver's words first; and a
`MemoryError`.  Behind the driver's words it says how many bytes were asked for
and, for memory of a device, how many the device has.  Host memory that is not
pinned is none of the driver's business: where it runs out, pyarrow raises its
own `ArrowMemoryError`.

Examples
--------
>>> from pyarrow import cuda
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

/// How much was asked for, where an allocation has failed.
pub(super) fn requested(error: &CallError) -> Option<String> {
    let bytes = error.requested_bytes.filter(|_| is_out_of_memory(error))?;
    Some(format!("{bytes} bytes were asked for"))
}

/// For [`or_raise_explained`](super::OrRaise::or_raise_explained): how much was asked for, and what
/// the context's device has.
pub(crate) fn available<'py>(
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
