//! `__dlpack__`: device memory to other libraries.

use super::capsule;
use crate::errors::OrRaise;
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::Context;
use arrow_cuda_numba_bridge::dlpack::{HostBytes, Memory, Tensor, abi};
use arrow_cuda_numba_bridge::{Error, Layout};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

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
pub(crate) fn to_capsule<'py>(
    py: Python<'py>,
    buffer: &DeviceBuffer,
    layout: Layout,
    request: &Request,
) -> PyResult<Bound<'py, PyAny>> {
    check_stream(request.stream)?;
    let memory = py.detach(|| memory_for(buffer, request)).or_raise(py)?;
    let is_copied = memory.is_some();
    let memory = memory.unwrap_or_else(|| buffer.clone().into());
    let tensor = Tensor::new(memory, layout).or_raise(py)?;
    if request.max_version.is_some_and(|(major, _)| major >= abi::MAJOR) {
        return capsule::versioned(py, tensor.into_versioned(is_copied));
    }
    let tensor = tensor.into_legacy().or_raise(py)?;
    capsule::legacy(py, tensor)
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
