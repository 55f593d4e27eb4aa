//! Device buffers over foreign memory.

use crate::contexts::argument::context_argument;
use crate::errors::{OrRaise, Wanted, expected, explained, non_negative, pyarrow_exception};
use crate::exchange::array_interface;
use crate::interpreter::Owner;
use crate::pyarrow::classes::classes;
use crate::pyarrow::from_pyarrow::{cuda_buffer_argument, is_buffer, is_cuda_buffer, is_of, span};
use crate::pyarrow::to_pyarrow::{wrap_buffer, wrap_memory_of};
use crate::signals::wait_for_signals;
use arrow_cuda_buffer::{DeviceBuffer, Error as BufferError};
use arrow_cuda_context::{Arrival, Context, Pending};
use arrow_cuda_driver::codes;
use pyo3::prelude::*;

/// `Context.buffer_from_object`: a view of the memory that an object has.
pub(crate) fn of_object<'py>(
    context: &Context,
    obj: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = obj.py();
    if is_of(obj, &classes(py)?.host_buffer) {
        let span = span(obj).ok_or_else(|| expected("HostBuffer", obj))?;
        if span.size == 0 {
            return empty(py, context);
        }
        let size = non_negative("size", span.size)?;
        let base = Some(obj.clone().unbind());
        let place = (span.address, size, span.is_mutable);
        return wrap_buffer(py, view(py, context, place, Arrival::complete(), base)?);
    }
    if is_cuda_buffer(obj)? {
        cuda_buffer_argument(obj)?;
        return Ok(obj.clone());
    }
    if is_buffer(obj)? {
        return wrap_memory_of(obj);
    }
    if let Some(interface) = array_interface::of(obj)? {
        let array = interface.memory().or_raise(py)?;
        array.layout.check_contiguous().or_raise(py)?;
        let size = array.layout.size();
        if size == 0 {
            return empty(py, context);
        }
        let arrival = wait_for_signals(py, || context.take_over(&array.pending))?.or_raise(py)?;
        let (place, base) = ((array.address, size, array.is_mutable), Some(obj.clone().unbind()));
        return wrap_buffer(py, view(py, context, place, arrival, base)?);
    }
    let text = format!("cannot create device buffer view from `{}` object", obj.get_type().str()?);
    Err(explained(pyarrow_exception(py, "ArrowTypeError", text), Wanted::DeviceMemory, obj))
}

pub(crate) fn empty<'py>(py: Python<'py>, context: &Context) -> PyResult<Bound<'py, PyAny>> {
    wrap_buffer(py, DeviceBuffer::allocate(context, 0).or_raise(py)?)
}

/// A buffer over the result of a library that works on the default stream.
#[pyfunction(name = "_view_memory")]
pub(crate) fn view_memory<'py>(
    context: &Bound<'py, PyAny>,
    address: u64,
    size: usize,
    owner: Py<PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = context.py();
    let context = context_argument(context)?.context();
    match size {
        0 => empty(py, context),
        _ => {
            let arrival = context.take_over(&Pending::DefaultStream).or_raise(py)?;
            wrap_buffer(py, view(py, context, (address, size, false), arrival, Some(owner))?)
        }
    }
}

/// A view of memory that `base` keeps valid: at an address of the host or of the device, of a size, mutable or not.
pub(crate) fn view(
    py: Python<'_>,
    context: &Context,
    (address, size, is_mutable): (u64, usize, bool),
    arrival: Arrival,
    base: Option<Py<PyAny>>,
) -> PyResult<DeviceBuffer> {
    let owner = Box::new(base.map(Owner::new));
    // With the GIL: look-ups do not block, and a refused owner must be dropped at once.
    // SAFETY: Python promises that `base` keeps the memory valid.
    let view = unsafe { DeviceBuffer::view(context, address, size, is_mutable, arrival, owner) };
    let calls = "Context.buffer_from_data copies host data, and new_host_buffer allocates host \
                 memory that devices can access";
    let view = view.map_err(|error| match error {
        BufferError::Cuda(error) => error.advised(codes::INVALID_VALUE, || calls.to_owned()).into(),
        other => other,
    });
    view.or_raise(py)
}
