//! NumPy arrays that are temporarily pinned, for `pinned` and `mapped` of the Python module `memory`.

use crate::contexts::context::PyContext;
use crate::errors::OrRaise;
use crate::interpreter::Owner;
use arrow_cuda_context::completed;
use arrow_cuda_transfer::RegisteredMemory;
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};

/// The memory of an array, pinned until `unregister`, or until this goes.  Retains the array.
#[pyclass(frozen, name = "_RegisteredArray", module = "pyarrow_cuda_compat")]
pub(crate) struct PyRegisteredArray {
    memory: Mutex<Option<RegisteredMemory>>,
    address: u64,
}

#[pymethods]
impl PyRegisteredArray {
    #[new]
    fn construct(
        py: Python<'_>,
        context: &PyContext,
        array: &Bound<'_, PyUntypedArray>,
    ) -> PyResult<Self> {
        let Some(span) = Span::of(array) else {
            return Err(PyValueError::new_err("an array without elements has no memory to pin"));
        };
        let owner = Box::new(Owner::new(array.clone().into_any().unbind()));
        let context = context.context();
        let registered = py.detach(|| {
            let start = span.start as *const u8;
            // SAFETY: the array keeps its memory, and NumPy does not move what is referred to.
            unsafe { RegisteredMemory::register(context, start, span.size, owner) }
        });
        let memory = registered.or_raise(py)?;
        let address = memory.device_address() + span.before_first as u64;
        Ok(Self { memory: Mutex::new(Some(memory)), address })
    }

    /// Where the device finds the first element.
    #[getter]
    fn address(&self) -> u64 {
        self.address
    }

    /// Unpins the memory, once the work that is queued in the context is complete.
    fn unregister(&self, py: Python<'_>) -> PyResult<()> {
        let memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(memory) = memory else { return Ok(()) };
        py.detach(|| memory.unregister()).or_raise(py)?;
        // Drops the objects that the work has retained here, with the GIL.
        drop(completed());
        Ok(())
    }
}

/// The bytes from the first one of any element to the last one.
struct Span {
    start: usize,
    size: usize,
    /// The bytes before the first element, which is not the lowest where strides are negative.
    before_first: usize,
}

impl Span {
    fn of(array: &Bound<'_, PyUntypedArray>) -> Option<Self> {
        if array.is_empty() {
            return None;
        }
        let (mut before, mut behind) = (0, 0);
        for (length, stride) in array.shape().iter().zip(array.strides()) {
            let reach = (length - 1) * stride.unsigned_abs();
            if *stride < 0 { before += reach } else { behind += reach }
        }
        // SAFETY: a live array.
        let first = unsafe { (*array.as_array_ptr()).fields.data } as usize;
        let size = before + behind + array.dtype().itemsize();
        (size > 0).then(|| Self { start: first - before, size, before_first: before })
    }
}
