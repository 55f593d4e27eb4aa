//! `from_dlpack`: tensors of other libraries.

use super::capsule;
use crate::errors::OrRaise;
use crate::exchange::views;
use crate::memory::context::{PyContext, context_argument};
use arrow_cuda_context::{Context, Pending};
use arrow_cuda_numba_bridge::dlpack::{ImportedMemory, abi};
use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

/// The legacy default stream, on which all copies here are ordered.
const DEFAULT_STREAM: i64 = 1;

/// View the memory of another library's tensor as a device buffer.
///
/// Parameters
/// ----------
/// x : object
///     An object that supports DLPack (``__dlpack__`` and ``__dlpack_device__``):
///     an array of CuPy, PyTorch, JAX and others, on a CUDA device.  Its elements
///     may be in any order, but without gaps.  A capsule from such an object is
///     accepted too, and can be consumed once.
/// device : Context, optional
///     The device for the buffer; a tensor on another device is copied there.
/// copy : bool, optional
///     True to always copy; False to raise an error if a copy is needed.
///
/// Returns
/// -------
/// buf : CudaBuffer
///     A view of the tensor's memory, which retains the tensor, or the copy.
///     Work that its library has queued is ordered before every copy from the
///     buffer; for a capsule, the call waits for all work of the device instead.
///
/// Raises
/// ------
/// BufferError
///     If the tensor cannot be exchanged: it is in host memory, has gaps, or
///     has another version of DLPack.
/// TypeError
///     If `x` does not support DLPack.
/// ValueError
///     If the description of the tensor is invalid.
/// OSError
///     If the driver does not know the memory.
///
/// Examples
/// --------
/// >>> from pyarrow import cuda
/// >>> from pyarrow_cuda_compat import from_dlpack
/// >>> theirs = cuda.Context(0).buffer_from_data(b"a tensor of bytes")
/// >>> buf = from_dlpack(theirs)
/// >>> buf.address == theirs.address
/// True
#[pyfunction]
#[pyo3(signature = (x, /, *, device=None, copy=None))]
pub(crate) fn from_dlpack<'py>(
    x: &Bound<'py, PyAny>,
    device: Option<&Bound<'py, PyAny>>,
    copy: Option<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = x.py();
    let context = device.map(context_argument).transpose()?.map(PyContext::context);
    let (tensor, is_ordered) = match x.cast::<PyCapsule>() {
        Ok(capsule) => (capsule::take(capsule)?, false),
        Err(_) => (capsule::take(ask(x)?.cast()?)?, true),
    };
    let memory = tensor.memory().or_raise(py)?;
    let lies_on = context_of(py, &memory)?;
    if !is_ordered {
        // The stream for which the capsule was created is unknown.
        py.detach(|| lies_on.wait_for(&Pending::AnyStream)).or_raise(py)?;
    }
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
    if memory.size == 0 {
        return views::empty(py, context);
    }
    let owner =
        PyCapsule::new_with_value(py, tensor, c"arrow_cuda_numba_bridge")?.into_any().unbind();
    let ImportedMemory { address, size, is_mutable, .. } = memory;
    let view = views::of_memory(py, home, address, size, is_mutable, Some(owner))?;
    if is_elsewhere || copy == Some(true) {
        return views::copy_of(&view, context);
    }
    Ok(view)
}

/// The capsule of an object that speaks DLPack, once its device was found to be one of ours.
fn ask<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    let (Some(dlpack), Some(device)) =
        (object.getattr_opt("__dlpack__")?, object.getattr_opt("__dlpack_device__")?)
    else {
        return Err(PyTypeError::new_err(format!(
            "expected an object with __dlpack__ and __dlpack_device__, got {}",
            object.get_type().name()?
        )));
    };
    let (device_type, _): (i32, i32) = device.call0()?.extract()?;
    check_device_type(device_type)?;
    let options = PyDict::new(py);
    if device_type != abi::CUDA_HOST {
        options.set_item("stream", DEFAULT_STREAM)?;
    }
    let versioned = options.copy()?;
    versioned.set_item("max_version", (abi::MAJOR, abi::MINOR))?;
    match dlpack.call((), Some(&versioned)) {
        // Producers older than DLPack 1.0 do not know the argument.
        Err(error) if error.is_instance_of::<PyTypeError>(py) => dlpack.call((), Some(&options)),
        answer => answer,
    }
}

fn check_device_type(device_type: i32) -> PyResult<()> {
    match device_type {
        abi::CUDA | abi::CUDA_HOST | abi::CUDA_MANAGED => Ok(()),
        abi::CPU => Err(PyBufferError::new_err(
            "the tensor is in host memory: Context.buffer_from_data copies it to a device",
        )),
        other => Err(PyBufferError::new_err(format!(
            "the tensor lies on a device of type {other}, not CUDA"
        ))),
    }
}

fn context_of(py: Python<'_>, memory: &ImportedMemory) -> PyResult<Context> {
    check_device_type(memory.device_type)?;
    let number = u32::try_from(memory.device_id).map_err(|_| {
        PyValueError::new_err(format!(
            "the tensor has an invalid device number: {}",
            memory.device_id
        ))
    })?;
    py.detach(|| Context::primary(number)).or_raise(py)
}
