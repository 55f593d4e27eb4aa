//! NumPy arrays that are temporarily pinned, for `pinned` and `mapped` of the Python module `memory`.

use crate::contexts::context::PyContext;
use crate::errors::OrRaise;
use crate::interpreter::Owner;
use arrow_cuda_context::completed;
use arrow_cuda_driver::{CudaError, codes};
use arrow_cuda_transfer::RegisteredMemory;
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};

/// The memory of an array, pinned until `unregister`, or until this goes.  Retains the array.
#[pyclass(frozen, name = "_RegisteredArray", module = "pyarrow_cuda_compat")]
pub(crate) struct PyRegisteredArray {
    memory: Mutex<Option<RegisteredMemory>>,
    /// Where the device finds the memory.
    #[pyo3(get)]
    address: u64,
}

#[pymethods]
impl PyRegisteredArray {
    /// Pins `size` bytes at an address of the host, which are those of the array; for reading, if nobody may write to
    /// it and the driver pins it in no other way.
    #[new]
    fn construct(
        py: Python<'_>,
        context: &PyContext,
        address: usize,
        size: usize,
        array: Py<PyAny>,
        is_mutable: bool,
    ) -> PyResult<Self> {
        let (context, owner) = (context.context(), Box::new(Owner::new(array)));
        let registered = py.detach(|| {
            let start = address as *const u8;
            // SAFETY: the package passes the bounds of the array, which keeps its memory: NumPy does not
            // move what is referred to.  What is not mutable here is not on the device.
            unsafe {
                match is_mutable {
                    true => RegisteredMemory::register(context, start, size, owner),
                    false => RegisteredMemory::register_read_only(context, start, size, owner),
                }
            }
        });
        let explained = |error: CudaError| {
            error.advised(codes::INVALID_VALUE, || refused(is_mutable).to_owned())
        };
        let memory = registered.map_err(explained).or_raise(py)?;
        let address = memory.device_address();
        Ok(Self { memory: Mutex::new(Some(memory)), address })
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

/// Why the driver pins no such memory, and what to do.
fn refused(is_mutable: bool) -> &'static str {
    match is_mutable {
        true => {
            "the driver pins no file on a disk that is mapped for sharing and writing: map it for reading only, \
             or copy the array"
        }
        false => {
            "this device pins no memory that is mapped for reading only, such as that of a file: copy the array"
        }
    }
}
