//! Memory for libraries that know it by its address, such as RMM.

use crate::contexts::argument::context_argument;
use crate::errors::OrRaise;
use arrow_cuda_buffer::{DeviceBuffer, with_own_memory};
use arrow_cuda_context::{Context, Ready};
use pyo3::prelude::*;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Allocates in a context's own memory, whatever allocator is set; its calls are not recorded.
#[pyclass(name = "_CallbackMemory", module = "pyarrow_cuda_compat._native", frozen)]
pub(crate) struct PyCallbackMemory {
    context: Context,
    /// The memory that is not deallocated, by address.
    buffers: Mutex<HashMap<u64, DeviceBuffer>>,
}

#[pymethods]
impl PyCallbackMemory {
    #[new]
    fn new(context: &Bound<'_, PyAny>) -> PyResult<Self> {
        let context = context_argument(context)?.context().clone();
        Ok(Self { context, buffers: Mutex::default() })
    }

    /// The address; 0 for no bytes.
    fn allocate(&self, py: Python<'_>, size: usize, _stream: &Bound<'_, PyAny>) -> PyResult<u64> {
        if size == 0 {
            return Ok(0);
        }
        let buffer = py
            .detach(|| with_own_memory(|| DeviceBuffer::allocate(&self.context, size)))
            .or_raise(py)?;
        // Memory of this pool is ready on any stream.
        let address = buffer.address(&Ready::by_caller());
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner).insert(address, buffer);
        Ok(address)
    }

    /// Takes no notice of an address that it does not have.
    fn deallocate(&self, py: Python<'_>, address: u64, _size: u64, _stream: &Bound<'_, PyAny>) {
        let buffer = self.buffers.lock().unwrap_or_else(PoisonError::into_inner).remove(&address);
        if let Some(buffer) = buffer {
            py.detach(|| drop(buffer));
        }
    }
}
