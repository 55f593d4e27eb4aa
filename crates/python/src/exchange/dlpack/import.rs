//! `from_dlpack`: tensors of other libraries.

use super::capsule;
use crate::errors::{OrRaise, Wanted, explained};
use crate::exchange::dtype::DType;
use crate::exchange::lazy_tensors::check_resolved;
use crate::exchange::{array_interface, foreign_memory};
use crate::signals::wait_for_signals;
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::{Context, Pending};
use arrow_cuda_numba_bridge::dlpack::{self, ImportedMemory, abi};
use arrow_cuda_numba_bridge::{Order, Span, StridedArray};
use pyo3::exceptions::{PyBufferError, PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

/// The legacy default stream: copies here are ordered after it, whichever stream they are made on.
const DEFAULT_STREAM: i64 = 1;

/// The array of an object that supports DLPack, or of a capsule, on a device: where it lies, or the
/// one that is asked for.  `says_all` tells that an object need not be asked for its array interface, too.
pub(crate) fn array_of(
    x: &Bound<'_, PyAny>,
    context: Option<&Context>,
    copy: Option<bool>,
    says_all: bool,
) -> PyResult<(StridedArray, DType)> {
    let py = x.py();
    let (tensor, pending) = match x.cast::<PyCapsule>() {
        // The stream for which the capsule was created is unknown.
        Ok(capsule) => (capsule::take(capsule)?, Pending::AnyStream),
        Err(_) => (capsule::take(ask(x, copy)?.cast()?)?, Pending::DefaultStream),
    };
    let memory = tensor.memory().or_raise(py)?;
    check_device_type(py, memory.device_type)?;
    let lies_on = py.detach(|| memory.context()).or_raise(py)?;
    let arrival = wait_for_signals(py, || lies_on.take_over(&pending))?.or_raise(py)?;
    let context = context.unwrap_or(&lies_on);
    let is_elsewhere = context.device() != lies_on.device();
    if is_elsewhere && copy == Some(false) {
        return Err(PyBufferError::new_err(format!(
            "memory of CUDA device {} is not accessible on device {} without a copy",
            lies_on.device().number(),
            context.device().number()
        )));
    }
    let home = if is_elsewhere { &lies_on } else { context };
    let ImportedMemory { address, layout, is_mutable, .. } = memory;
    // JAX's arrays are immutable, which DLPack before 1.0 cannot say.
    let is_mutable = is_mutable && (says_all || !array_interface::is_marked_read_only(x)?);
    let dtype = DType::of_element(layout.element());
    let Span { start, size } = layout.span();
    let buffer = if size == 0 {
        DeviceBuffer::allocate(context, 0).or_raise(py)?
    } else {
        let owner = PyCapsule::new_with_value(py, tensor, c"arrow_cuda_numba_bridge")?;
        let base = Some(owner.into_any().unbind());
        foreign_memory::view(py, home, (address, size, is_mutable), arrival, base)?
    };
    let array = StridedArray::new(&buffer, start.unsigned_abs() as usize, layout).or_raise(py)?;
    if is_elsewhere || copy == Some(true) {
        let order = array.order().unwrap_or(Order::C);
        return Ok((py.detach(|| array.copy_to(context, order)).or_raise(py)?, dtype));
    }
    Ok((array, dtype))
}

/// The capsule of an object that speaks DLPack, once its device was found to be one of ours.
fn ask<'py>(object: &Bound<'py, PyAny>, copy: Option<bool>) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    let (Some(dlpack), Some(device)) =
        (object.getattr_opt("__dlpack__")?, object.getattr_opt("__dlpack_device__")?)
    else {
        let error = PyTypeError::new_err(format!(
            "expected an object with __dlpack__ and __dlpack_device__, got {}",
            object.get_type().name()?
        ));
        return Err(explained(error, Wanted::Tensor, object));
    };
    let device_type = type_of_device(&device)?;
    check_device_type(py, device_type)?;
    check_resolved(object)?;
    let options = PyDict::new(py);
    if device_type != abi::CUDA_HOST {
        options.set_item("stream", DEFAULT_STREAM)?;
    }
    let versioned = options.copy()?;
    versioned.set_item("max_version", (abi::MAJOR, abi::MINOR))?;
    match dlpack.call((), Some(&versioned)) {
        // Producers older than DLPack 1.0 do not know the argument.
        Err(error) if error.is_instance_of::<PyTypeError>(py) => dlpack.call((), Some(&options)),
        // A producer that refuses its memory as it is may give a copy.
        Err(error) if copy == Some(true) && error.is_instance_of::<PyBufferError>(py) => {
            versioned.set_item("copy", true)?;
            dlpack.call((), Some(&versioned))
        }
        answer => answer,
    }
}

/// The type that an object's `__dlpack_device__` names, in DLPack's numbers.
pub(crate) fn type_of_device(method: &Bound<'_, PyAny>) -> PyResult<i32> {
    let device = method.call0()?;
    let (device_type, _): (i32, i32) = device.extract().map_err(|error: PyErr| {
        match error.is_instance_of::<PyOverflowError>(method.py()) {
            true => PyValueError::new_err(format!("DLPack knows no device {device}")),
            false => error,
        }
    })?;
    Ok(device_type)
}

fn check_device_type(py: Python<'_>, device_type: i32) -> PyResult<()> {
    if device_type == abi::CPU {
        return Err(PyBufferError::new_err(
            "the tensor is in host memory: DeviceArray.from_host copies it to a device",
        ));
    }
    dlpack::check_device_type(device_type).or_raise(py)
}
