//! `__dlpack__`: device memory to other libraries.

use super::capsule;
use crate::errors::OrRaise;
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::{Consumer, Context};
use arrow_cuda_numba_bridge::dlpack::{HostBytes, Memory, Tensor, abi, consumer_on};
use arrow_cuda_numba_bridge::{Error, Layout};
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
    let consumer = consumer_on(request.stream).or_raise(py)?;
    let memory = py.detach(|| memory_for(buffer, request, consumer)).or_raise(py)?;
    let is_copied = memory.is_some();
    let memory = memory.unwrap_or_else(|| buffer.clone().into());
    let tensor = Tensor::new(memory, layout).or_raise(py)?;
    if request.max_version.is_some_and(|(major, _)| major >= abi::MAJOR) {
        return capsule::versioned(py, tensor.into_versioned(is_copied));
    }
    let tensor = tensor.into_legacy().or_raise(py)?;
    capsule::legacy(py, tensor)
}

/// A copy where the request wants one; otherwise none, and the consumer may go on.
fn memory_for(
    buffer: &DeviceBuffer,
    request: &Request,
    consumer: Consumer,
) -> Result<Option<Memory>, Error> {
    let own = buffer.context().device().number().cast_signed();
    let (device_type, number) = request.dl_device.unwrap_or((abi::CUDA, own));
    let is_elsewhere = (device_type, number) != (abi::CUDA, own);
    if is_elsewhere && request.copy == Some(false) {
        return Err(Error::Unsupported(format!(
            "memory of CUDA device {own} is not accessible on device ({device_type}, {number}) \
             without a copy"
        )));
    }
    match device_type {
        abi::CPU => Ok(Some(Memory::Host(HostBytes::copy_of(buffer)?))),
        abi::CUDA if is_elsewhere => {
            let number = u32::try_from(number)
                .map_err(|_| Error::Invalid(format!("{number} is not a device number")))?;
            let context = Context::primary(number).map_err(arrow_cuda_buffer::Error::from)?;
            Ok(Some(buffer.copy_to(&context)?.into()))
        }
        abi::CUDA if request.copy == Some(true) => {
            Ok(Some(buffer.copy_to(buffer.context())?.into()))
        }
        abi::CUDA => {
            if !buffer.is_empty() {
                let ready = buffer.context().make_ready_for(consumer);
                ready.map_err(arrow_cuda_buffer::Error::from)?;
            }
            Ok(None)
        }
        other => Err(Error::Unsupported(format!(
            "device memory cannot be copied to a device of type {other}, only to the host (1) or \
             to a CUDA device (2)"
        ))),
    }
}
