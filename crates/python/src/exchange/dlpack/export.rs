//! `__dlpack__`: device memory to other libraries.

use super::capsule;
use crate::errors::OrRaise;
use crate::interpreter::Owner;
use crate::pyarrow::from_pyarrow::host_bytes_mut;
use crate::pyarrow::to_pyarrow::allocate_host;
use crate::signals::wait_for_signals;
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::{Consumer, Context, Ready, Stream};
use arrow_cuda_numba_bridge::dlpack::{HostBytes, Memory, Tensor, abi, consumer_on};
use arrow_cuda_numba_bridge::{Error, Order, StridedArray, StridedLayout};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

/// The arguments that a consumer passes to `__dlpack__`.
pub(crate) struct Request {
    pub(crate) stream: Option<i64>,
    pub(crate) max_version: Option<(u32, u32)>,
    pub(crate) dl_device: Option<(i32, i32)>,
    pub(crate) copy: Option<bool>,
}

impl Request {
    /// The arguments as a call passes them, the stream by position or by name; none for others.
    pub(crate) fn of(arguments: &Bound<'_, PyTuple>, options: &Bound<'_, PyDict>) -> Option<Self> {
        let mut request = Self { stream: None, max_version: None, dl_device: None, copy: None };
        match arguments.len() {
            0 => {}
            1 if !options.contains("stream").ok()? => {
                request.stream = arguments.get_item(0).ok()?.extract().ok()?;
            }
            _ => return None,
        }
        for (name, value) in options {
            match name.cast::<PyString>().ok()?.to_str().ok()? {
                "stream" => request.stream = value.extract().ok()?,
                "max_version" => request.max_version = value.extract().ok()?,
                "dl_device" => request.dl_device = value.extract().ok()?,
                "copy" => request.copy = value.extract().ok()?,
                _ => return None,
            }
        }
        Some(request)
    }
}

/// `__dlpack_device__`.
pub(crate) fn device(buffer: &DeviceBuffer) -> (i32, u32) {
    (abi::CUDA, buffer.context().device().number())
}

/// `__dlpack__`: the array, or a copy of it, in a capsule.
pub(crate) fn to_capsule<'py>(
    py: Python<'py>,
    array: &StridedArray,
    request: &Request,
) -> PyResult<Bound<'py, PyAny>> {
    let consumer = consumer_on(request.stream).or_raise(py)?;
    let buffer = array.buffer();
    let place = request.copies_to(buffer).or_raise(py)?;
    let is_copied = place.is_some();
    let (memory, layout) = match place {
        None => {
            let size = array.element().size();
            array.check_aligned(1 << size.trailing_zeros()).or_raise(py)?;
            let ready = make_ready(py, buffer, consumer)?;
            ((buffer.clone(), ready).into(), array.layout().clone())
        }
        Some(place) => {
            // The copy of an array with gaps is dense.
            let order = array.order().unwrap_or(Order::C);
            let shape = array.layout().shape().to_vec();
            let layout = StridedLayout::dense(array.element(), shape, order).or_raise(py)?;
            (copied(py, array, &place, order)?, layout)
        }
    };
    let tensor = Tensor::new(memory, layout).or_raise(py)?;
    if request.max_version.is_some_and(|(major, _)| major >= abi::MAJOR) {
        let tensor = tensor.into_versioned(is_copied).cast();
        return capsule::owning(py, tensor, &capsule::VERSIONED);
    }
    capsule::owning(py, tensor.into_legacy().or_raise(py)?.cast(), &capsule::LEGACY)
}

/// Where a consumer wants a copy.
enum CopyDestination {
    Host,
    Device(Context),
}

impl Request {
    fn copies_to(&self, buffer: &DeviceBuffer) -> Result<Option<CopyDestination>, Error> {
        let own = buffer.context().device().number().cast_signed();
        let (device_type, number) = self.dl_device.unwrap_or((abi::CUDA, own));
        let is_elsewhere = (device_type, number) != (abi::CUDA, own);
        if is_elsewhere && self.copy == Some(false) {
            return Err(Error::Unsupported(format!(
                "memory of CUDA device {own} is not accessible on device ({device_type}, {number}) \
                 without a copy"
            )));
        }
        match device_type {
            abi::CPU => Ok(Some(CopyDestination::Host)),
            abi::CUDA if is_elsewhere => {
                let number = u32::try_from(number)
                    .map_err(|_| Error::Invalid(format!("{number} is not a device number")))?;
                let context = Context::primary(number).map_err(arrow_cuda_buffer::Error::from)?;
                Ok(Some(CopyDestination::Device(context)))
            }
            abi::CUDA if self.copy == Some(true) => {
                Ok(Some(CopyDestination::Device(buffer.context().clone())))
            }
            abi::CUDA => Ok(None),
            other => Err(Error::Unsupported(format!(
                "device memory cannot be copied to a device of type {other}, only to the host (1) \
                 or to a CUDA device (2)"
            ))),
        }
    }
}

fn make_ready(py: Python<'_>, buffer: &DeviceBuffer, consumer: Consumer) -> PyResult<Ready> {
    let make_ready = || buffer.context().make_ready_for(consumer, &[]);
    match consumer {
        _ if buffer.is_empty() => Ok(Ready::by_caller()), // there is no address
        // Most consumers; releasing the GIL would cost more than that takes.
        Consumer::OnDefaultStream
            if buffer.context().is_primary() && Stream::current(buffer.context()).is_none() =>
        {
            make_ready().or_raise(py)
        }
        _ => wait_for_signals(py, make_ready)?.or_raise(py),
    }
}

fn copied(
    py: Python<'_>,
    array: &StridedArray,
    place: &CopyDestination,
    order: Order,
) -> PyResult<Memory> {
    match place {
        CopyDestination::Device(context) => {
            let copy = py.detach(|| array.copy_to(context, order)).or_raise(py)?;
            let ready = make_ready(py, copy.buffer(), Consumer::OnDefaultStream)?;
            Ok((copy.buffer().clone(), ready).into())
        }
        // In memory from Arrow's pool, which reuses pages that are mapped already.
        CopyDestination::Host => {
            let size = array.layout().size();
            let host = allocate_host(py, size)?;
            let bytes = host_bytes_mut(&host, size)?;
            py.detach(|| array.copy_to_host(bytes, order)).or_raise(py)?;
            let (address, owner) = (bytes.as_ptr().cast(), Owner::new(host.clone().unbind()));
            // SAFETY: the host buffer has the bytes, and is owned.
            Ok(Memory::Host(unsafe { HostBytes::new(address, size, Box::new(owner)) }))
        }
    }
}
