//! Copies of arrays and record batches to and from devices.  The methods themselves are pyarrow's,
//! wrapped in Python: `pyarrow_cuda_compat/_device_arrays.py`.

use crate::errors::OrRaise;
use crate::pyarrow::from_pyarrow::is_of;
use crate::pyarrow::pyarrow;
use pyo3::prelude::*;
use std::ptr;

/// A copy of an array, or of a record batch if it `is_batch`, in the memory of a `pyarrow.Device` or
/// `pyarrow.MemoryManager`.  `None` if pyarrow is to make the copy, or to refuse the destination: no
/// device memory takes part in it.
#[pyfunction]
#[pyo3(name = "_copy_to")]
pub(crate) fn copy_to<'py>(
    object: &Bound<'py, PyAny>,
    is_batch: bool,
    destination: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = object.py();
    let pyarrow = pyarrow(py)?;
    let is_device = is_of(destination, &pyarrow.device);
    let is_place = is_device || is_of(destination, &pyarrow.memory_manager);
    let place = if is_place { destination.as_ptr().cast() } else { ptr::null_mut() };
    let object = object.as_ptr().cast();
    // SAFETY: live objects, the destination of its class, and the GIL is held; the result is a new
    // reference.
    unsafe {
        let copied = pyarrow.bridge.copy_to(object, is_batch, place, is_device).or_raise(py)?;
        copied.map(|copy| Bound::from_owned_ptr_or_err(py, copy.cast())).transpose()
    }
}
