//! Device arrays from other libraries' arrays and from arguments.

use super::arrow::of_arrow;
use super::arrow_data::Bits;
use super::class::PyDeviceArray;
use crate::contexts::argument::context_or_number;
use crate::errors::OrRaise;
use crate::exchange::array_interface::{self, Elements};
use crate::exchange::{dlpack, foreign_memory};
use crate::pyarrow::from_pyarrow::{
    check_has_arrays, check_has_bytes, has_values, is_buffer, is_cuda_buffer, is_on_device,
};
use crate::signals::wait_for_signals;
use arrow_cuda_buffer::{DeviceBuffer, context_of};
use arrow_cuda_context::Context;
use arrow_cuda_numba_bridge::StridedArray;
use arrow_cuda_numba_bridge::array_interface::ArrayInterface;
use arrow_cuda_numba_bridge::dlpack::abi;
use numpy::PyUntypedArray;
use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::prelude::*;

/// View another library's array on a device.
///
/// Parameters
/// ----------
/// x : object
///     An object that supports DLPack (``__dlpack__`` and ``__dlpack_device__``):
///     an array of CuPy, PyTorch, JAX and others, on a CUDA device.  A capsule from such
///     an object is accepted too, and can be consumed once.
/// device : Context, int or str, optional
///     The device for the array; one on another device is copied there.
/// copy : bool, optional
///     True to always copy; False to raise an error if a copy is needed.
///
/// Returns
/// -------
/// array : DeviceArray
///     A view of the array's memory with its type, shape and strides, which retains
///     it, or the copy.  `DeviceArray.buffer` has its bytes.  The view is read-only if
///     DLPack or the array interface of `x` marks the memory, as that of JAX does.
///     Work that its library has queued is ordered before every copy from the
///     array; for a capsule, the call waits for all work of the device instead.
///
/// Raises
/// ------
/// BufferError
///     If the array cannot be exchanged: it is in host memory, has another version of
///     DLPack, or is a tensor of PyTorch that is lazily conjugated or negated
///     (``tensor.resolve_conj()`` and ``tensor.resolve_neg()`` are not). A capsule
///     does not tell.
/// TypeError
///     If `x` does not support DLPack.
/// ValueError
///     If the description of the array is invalid.
/// OSError
///     If the driver does not know the memory.
///
/// Examples
/// --------
/// >>> from pyarrow_cuda_compat import DeviceArray, from_dlpack
/// >>> theirs = DeviceArray.from_host([[1.5, 2.5]])  # or an array of CuPy
/// >>> array = from_dlpack(theirs)
/// >>> array.shape, array.address == theirs.address
/// ((1, 2), True)
#[pyfunction(signature = (x, /, *, device=None, copy=None))]
pub(super) fn from_dlpack(
    x: &Bound<'_, PyAny>,
    device: Option<&Bound<'_, PyAny>>,
    copy: Option<bool>,
) -> PyResult<PyDeviceArray> {
    let context = device.map(context_or_number).transpose()?;
    let (array, dtype) = dlpack::import::array_of(x, context.as_ref(), copy, is_ours(x)?)?;
    Ok(PyDeviceArray::new(array, dtype))
}

/// The device array that an object is, or describes; none for what lies on the host.
pub(super) fn device_array<'py>(
    object: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyDeviceArray>>> {
    if let Ok(array) = object.cast::<PyDeviceArray>() {
        return Ok(Some(array.clone()));
    }
    let py = object.py();
    // The most frequent of those that have the protocols for the host.
    if object.is_instance_of::<PyUntypedArray>() {
        return Ok(None);
    }
    if has_values(object)? {
        check_has_arrays(object)?;
        if !is_on_device(object)? {
            return Ok(None);
        }
        return of_arrow(object).map(Some);
    }
    if is_buffer(object)? && !is_cuda_buffer(object)? {
        return Ok(None);
    }
    check_has_bytes(object)?; // a tensor without them has the protocols, too
    match by_protocol(object)? {
        Some(array) => Bound::new(py, array).map(Some),
        None => Ok(None),
    }
}

/// By DLPack, where the producer orders its work; by the CUDA array interface what lies beyond DLPack.
/// Any other refusal holds for both: the interface would only not tell its reason.
fn by_protocol(object: &Bound<'_, PyAny>) -> PyResult<Option<PyDeviceArray>> {
    let py = object.py();
    if !lies_on_device(object)? {
        return by_interface(object, |_| true);
    }
    match dlpack::import::array_of(object, None, None, false) {
        Ok((array, dtype)) => Ok(Some(PyDeviceArray::new(array, dtype))),
        Err(error) => {
            let is_tensors = error.is_instance_of::<PyBufferError>(py)
                || error.is_instance_of::<PyValueError>(py);
            let other_way = if is_tensors { by_interface(object, is_beyond_dlpack)? } else { None };
            other_way.map_or(Err(error), |array| Ok(Some(array)))
        }
    }
}

/// Whether DLPack says all of an object's memory that the array interface does: for that, ours wait each time.
fn is_ours(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(object.is_instance_of::<PyDeviceArray>() || is_cuda_buffer(object)?)
}

/// Whether the object has DLPack's methods, and names a CUDA device.
fn lies_on_device(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let has_capsule = object.getattr_opt("__dlpack__")?.is_some();
    match object.getattr_opt("__dlpack_device__")? {
        Some(device) if has_capsule => Ok(abi::is_cuda(dlpack::import::type_of_device(&device)?)),
        _ => Ok(false),
    }
}

/// Whether DLPack cannot describe an array, or producers describe it wrongly (CuPy 14: negative strides).
fn is_beyond_dlpack(interface: &ArrayInterface) -> bool {
    let size = i64::from(interface.element.size()).max(1);
    let is_uneven = |stride: &i64| *stride < 0 || stride % size != 0;
    interface.element.to_dlpack().is_err() || interface.strides.iter().flatten().any(is_uneven)
}

/// By the CUDA array interface, if the object has one that is to be taken.
fn by_interface(
    object: &Bound<'_, PyAny>,
    is_taken: impl FnOnce(&ArrayInterface) -> bool,
) -> PyResult<Option<PyDeviceArray>> {
    let py = object.py();
    let Some((interface, elements)) = array_interface::with_elements(object)? else {
        return Ok(None);
    };
    if !is_taken(&interface) {
        return Ok(None);
    }
    let memory = interface.memory().or_raise(py)?;
    let span = memory.layout.span();
    let buffer = if span.size == 0 {
        let context = py.detach(|| Context::primary(0)).or_raise(py)?;
        DeviceBuffer::allocate(&context, 0).or_raise(py)?
    } else {
        let context = py.detach(|| context_of(memory.address)).or_raise(py)?;
        let arrival = wait_for_signals(py, || context.take_over(&memory.pending))?.or_raise(py)?;
        let base = Some(object.clone().unbind());
        let place = (memory.address, span.size, memory.is_mutable);
        foreign_memory::view(py, &context, place, arrival, base)?
    };
    let first = span.start.unsigned_abs() as usize;
    let array = StridedArray::new(&buffer, first, memory.layout).or_raise(py)?;
    Ok(Some(match elements {
        Elements::Whole(dtype) => PyDeviceArray::new(array, dtype),
        Elements::Bits(count) => PyDeviceArray::of_bits(py, &Bits::new(array.buffer(), 0, count)?)?,
    }))
}
