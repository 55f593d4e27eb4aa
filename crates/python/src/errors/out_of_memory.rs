//! `OutOfMemoryError`: the driver cannot allocate device memory or pinned host memory.

use super::way_out::extended;
use crate::registration::PACKAGE;
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

/// An error for too little memory goes on with how to need less of it; others stay as they are.
pub(crate) fn with_less_memory(py: Python<'_>, error: PyErr, way_out: &str) -> PyErr {
    let is_full = class(py).is_ok_and(|class| error.is_instance(py, class));
    match is_full {
        true => extended(
            py,
            &error,
            &format!("{way_out}, or release memory: memory_stats() says who has it"),
        ),
        false => error,
    }
}

pub(super) fn exception(py: Python<'_>, text: String) -> PyErr {
    match class(py) {
        Ok(class) => PyErr::from_type(class.clone(), text),
        Err(error) => error,
    }
}
