//! DLPack: tensors in capsules, to other libraries and from them.

use crate::context::{PyContext, context_argument};
use crate::errors::OrRaise;
use crate::views;
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::Context;
use arrow_cuda_dlpack::{Element, Error, HostBytes, Imported, ImportedMemory, Memory, Tensor, abi};
use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use std::ffi::CStr;
use std::ptr::NonNull;

const LEGACY: &CStr = c"dltensor";
const VERSIONED: &CStr = c"dltensor_versioned";
const USED_LEGACY: &CStr = c"used_dltensor";
const USED_VERSIONED: &CStr = c"used_dltensor_versioned";

/// The legacy default stream, on which all copies here are ordered.
const DEFAULT_STREAM: i64 = 1;

/// What a consumer asks of `__dlpack__`.
#[derive(Default)]
pub(crate) struct Request {
    pub(crate) stream: Option<i64>,
    pub(crate) max_version: Option<(u32, u32)>,
    pub(crate) dl_device: Option<(i32, i32)>,
    pub(crate) copy: Option<bool>,
}

/// `__dlpack_device__`.
pub(crate) fn device(buffer: &DeviceBuffer) -> (i32, u32) {
    (abi::CUDA, buffer.context().device().number())
}

/// `__dlpack__`: the buffer, or a copy of it, in a capsule.
pub(crate) fn export<'py>(
    py: Python<'py>,
    buffer: &DeviceBuffer,
    element: Element,
    shape: Vec<i64>,
    request: &Request,
) -> PyResult<Bound<'py, PyAny>> {
    check_stream(request.stream)?;
    let memory = py.detach(|| memory_for(buffer, request)).map_err(|error| raised(py, error))?;
    let is_copied = memory.is_some();
    let memory = memory.unwrap_or_else(|| buffer.clone().into());
    let tensor = Tensor::new(memory, element, shape).map_err(|error| raised(py, error))?;
    if request.max_version.is_some_and(|(major, _)| major >= abi::MAJOR) {
        let given_away = tensor.into_versioned(is_copied);
        return capsule(py, given_away.cast(), VERSIONED, drop_versioned);
    }
    let given_away = tensor.into_legacy().map_err(|error| raised(py, error))?;
    capsule(py, given_away.cast(), LEGACY, drop_legacy)
}

fn check_stream(stream: Option<i64>) -> PyResult<()> {
    match stream {
        Some(0) => Err(PyValueError::new_err(
            "stream 0 is ambiguous: 1 is the legacy default stream, 2 the per-thread one",
        )),
        Some(stream) if stream < -1 => {
            Err(PyValueError::new_err(format!("{stream} is no CUDA stream")))
        }
        _ => Ok(()),
    }
}

/// A copy where the request wants one; otherwise none, and the consumer's stream may go on.
fn memory_for(buffer: &DeviceBuffer, request: &Request) -> Result<Option<Memory>, Error> {
    let own = buffer.context().device().number().cast_signed();
    let (device_type, number) = request.dl_device.unwrap_or((abi::CUDA, own));
    let is_elsewhere = (device_type, number) != (abi::CUDA, own);
    if is_elsewhere && request.copy == Some(false) {
        return Err(Error::Unsupported(format!(
            "memory of CUDA device {own} cannot be had on device ({device_type}, {number}) \
             without a copy"
        )));
    }
    match device_type {
        abi::CPU => Ok(Some(Memory::Host(HostBytes::copy_of(buffer)?))),
        abi::CUDA if is_elsewhere => {
            let number = u32::try_from(number)
                .map_err(|_| Error::Invalid(format!("{number} is no device number")))?;
            let context = Context::primary(number).map_err(arrow_cuda_buffer::Error::from)?;
            Ok(Some(buffer.copy_to(&context)?.into()))
        }
        abi::CUDA if request.copy == Some(true) => {
            Ok(Some(buffer.copy_to(buffer.context())?.into()))
        }
        abi::CUDA => {
            let wait = order_after_default_stream(buffer, request.stream);
            wait.map_err(arrow_cuda_buffer::Error::from)?;
            Ok(None)
        }
        other => Err(Error::Unsupported(format!(
            "device memory cannot be copied to a device of type {other}, only to the host (1) or \
             to a CUDA device (2)"
        ))),
    }
}

/// Blocks until a consumer's stream would see the work queued on the default stream.
///
/// The default streams are ordered after it anyway.  Another one is not handed to the driver,
/// which crashes on a handle that is wrong: where work is pending, this thread waits for it.
fn order_after_default_stream(
    buffer: &DeviceBuffer,
    stream: Option<i64>,
) -> arrow_cuda_driver::CudaResult<()> {
    let context = buffer.context();
    let has_another = stream.is_some_and(|stream| stream > 2);
    if has_another && !buffer.is_empty() && context.is_default_stream_busy()? {
        context.synchronize_default_stream()?;
    }
    Ok(())
}

/// View the memory of a tensor of another library as a device buffer.
///
/// Parameters
/// ----------
/// x : object
///     Anything that speaks DLPack (``__dlpack__`` and ``__dlpack_device__``):
///     arrays of CuPy, PyTorch, JAX and others, on a CUDA device.  Its elements
///     may be in any order, but have to lie side by side.  A capsule that such
///     an object has given is taken as well, once.
/// device : Context, optional
///     Where the buffer has to lie; a tensor of another device is copied there.
/// copy : bool, optional
///     True for a copy in any case, False for an error where one is needed.
///
/// Returns
/// -------
/// buf : CudaBuffer
///     The tensor's memory, which the buffer keeps, or the copy.  Work that
///     its library has queued is ordered before every copy from the buffer;
///     for a capsule, all work of the device is waited for instead.
///
/// Raises
/// ------
/// BufferError
///     If the tensor cannot be exchanged: it lies on the host, has gaps, or is
///     of another version of DLPack.
/// TypeError
///     If `x` does not speak DLPack.
/// ValueError
///     If it says what cannot be.
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
        Ok(capsule) => (take(capsule)?, false),
        Err(_) => (take(ask(x)?.cast()?)?, true),
    };
    let memory = tensor.memory().map_err(|error| raised(py, error))?;
    let lies_on = context_of(py, &memory)?;
    if !is_ordered {
        // Nobody knows for which stream the capsule was made.
        py.detach(|| lies_on.synchronize()).or_raise(py)?;
    }
    let context = context.unwrap_or(&lies_on);
    let is_elsewhere = context.device() != lies_on.device();
    if is_elsewhere && copy == Some(false) {
        return Err(PyBufferError::new_err(format!(
            "memory of CUDA device {} cannot be had on device {} without a copy",
            lies_on.device().number(),
            context.device().number()
        )));
    }
    let home = if is_elsewhere { &lies_on } else { context };
    if memory.size == 0 {
        return views::empty(py, context);
    }
    let owner = PyCapsule::new_with_value(py, tensor, c"arrow_cuda_dlpack")?.into_any().unbind();
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
            "the tensor lies on the host: Context.buffer_from_data copies it to a device",
        )),
        other => Err(PyBufferError::new_err(format!(
            "the tensor lies on a device of type {other}, which is not CUDA's"
        ))),
    }
}

fn context_of(py: Python<'_>, memory: &ImportedMemory) -> PyResult<Context> {
    check_device_type(memory.device_type)?;
    let number = u32::try_from(memory.device_id).map_err(|_| {
        PyValueError::new_err(format!("the tensor's device has number {}", memory.device_id))
    })?;
    py.detach(|| Context::primary(number)).or_raise(py)
}

/// The exception for a failed exchange.
fn raised(py: Python<'_>, error: Error) -> PyErr {
    match error {
        Error::Buffer(error) => crate::errors::raised(py, &error.into()),
        Error::Unsupported(text) => PyBufferError::new_err(text),
        Error::Invalid(text) => PyValueError::new_err(text),
    }
}

/// Takes the tensor out of a capsule, which is marked as used.
fn take(capsule: &Bound<'_, PyCapsule>) -> PyResult<Imported> {
    let object = capsule.as_ptr();
    // SAFETY: a live capsule.  Its name says what it holds, and that nobody has taken it yet; from
    // the renaming on, its destructor does not free it any more.
    unsafe {
        for (name, used, is_versioned) in
            [(VERSIONED, USED_VERSIONED, true), (LEGACY, USED_LEGACY, false)]
        {
            if ffi::PyCapsule_IsValid(object, name.as_ptr()) == 1 {
                let pointer = ffi::PyCapsule_GetPointer(object, name.as_ptr());
                let pointer = NonNull::new(pointer).ok_or_else(|| PyErr::fetch(capsule.py()))?;
                if ffi::PyCapsule_SetName(object, used.as_ptr()) != 0 {
                    return Err(PyErr::fetch(capsule.py()));
                }
                return Ok(match is_versioned {
                    true => Imported::versioned(pointer.cast()),
                    false => Imported::legacy(pointer.cast()),
                });
            }
            if ffi::PyCapsule_IsValid(object, used.as_ptr()) == 1 {
                return Err(PyValueError::new_err("the capsule's tensor was taken already"));
            }
        }
    }
    Err(PyTypeError::new_err(format!("{} holds no DLPack tensor", capsule.repr()?)))
}

fn capsule<'py>(
    py: Python<'py>,
    tensor: NonNull<std::ffi::c_void>,
    name: &'static CStr,
    destructor: unsafe extern "C" fn(*mut ffi::PyObject),
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the name is static, and the destructor is the one for what the capsule holds.
    unsafe {
        let capsule = ffi::PyCapsule_New(tensor.as_ptr(), name.as_ptr(), Some(destructor));
        Bound::from_owned_ptr_or_err(py, capsule)
    }
}

unsafe extern "C" fn drop_versioned(capsule: *mut ffi::PyObject) {
    // SAFETY: Python calls this with the capsule; under this name nobody has taken the tensor.
    unsafe {
        if let Some(tensor) = untaken(capsule, VERSIONED) {
            drop(Imported::versioned(tensor.cast()));
        }
    }
}

unsafe extern "C" fn drop_legacy(capsule: *mut ffi::PyObject) {
    // SAFETY: as above.
    unsafe {
        if let Some(tensor) = untaken(capsule, LEGACY) {
            drop(Imported::legacy(tensor.cast()));
        }
    }
}

unsafe fn untaken(capsule: *mut ffi::PyObject, name: &CStr) -> Option<NonNull<std::ffi::c_void>> {
    // SAFETY: the caller's promise: a capsule that is being destroyed.
    unsafe {
        match ffi::PyCapsule_IsValid(capsule, name.as_ptr()) {
            1 => NonNull::new(ffi::PyCapsule_GetPointer(capsule, name.as_ptr())),
            _ => None,
        }
    }
}
