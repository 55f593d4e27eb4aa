//! The CUDA array interface: how libraries describe their device arrays to each other.

use crate::errors::OrRaise;
use arrow_cuda_buffer::{DeviceBuffer, strided};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// The interface of dense elements at the start of a buffer.
pub(crate) fn produce<'py>(
    py: Python<'py>,
    buffer: &DeviceBuffer,
    typestr: &str,
    shape: &[i64],
) -> PyResult<Bound<'py, PyDict>> {
    // All work here is done when a call returns, but others may have queued theirs.  Consumers that
    // honour a stream wait for it themselves; PyTorch does not.
    if !buffer.is_empty() {
        py.detach(|| buffer.context().synchronize_default_stream()).or_raise(py)?;
    }
    let interface = PyDict::new(py);
    interface.set_item("shape", PyTuple::new(py, shape)?)?;
    interface.set_item("typestr", typestr)?;
    interface.set_item("data", (buffer.address(), !buffer.is_mutable()))?;
    interface.set_item("version", 3)?;
    interface.set_item("strides", py.None())?;
    interface.set_item("mask", py.None())?;
    interface.set_item("stream", py.None())?;
    Ok(interface)
}

const LEGACY_DEFAULT_STREAM: u64 = 1;

/// The memory behind an object's `__cuda_array_interface__`.
pub(crate) struct ArrayMemory {
    pub(crate) address: u64,
    pub(crate) size: u64,
    pub(crate) is_read_only: bool,
    /// Whose work has to be waited for.
    pub(crate) pending: Pending,
}

/// What work may still write to an array.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pending {
    Nothing,
    DefaultStream,
    /// That of a stream which is known by a handle only.  The driver crashes on one that is wrong,
    /// so it is never handed on.
    SomeStream,
}

/// What the object's interface says; none when it has no interface.
pub(crate) fn describe(object: &Bound<'_, PyAny>) -> PyResult<Option<ArrayMemory>> {
    let Some(interface) = object.getattr_opt("__cuda_array_interface__")? else {
        return Ok(None);
    };
    // JAX queues work on threads of its own, and gives its interface before the device knows of it.
    if let Some(wait) = object.getattr_opt("block_until_ready")? {
        wait.call0()?;
    }
    let interface = interface
        .cast_into::<PyDict>()
        .map_err(|_| PyTypeError::new_err("__cuda_array_interface__ must be a dict"))?;
    let get = |key: &str| -> PyResult<Option<Bound<'_, PyAny>>> {
        Ok(interface.get_item(key)?.filter(|value| !value.is_none()))
    };
    let required = |key: &str| {
        get(key)?.ok_or_else(|| {
            PyValueError::new_err(format!("__cuda_array_interface__ has no '{key}'"))
        })
    };
    if get("mask")?.is_some() {
        return Err(PyValueError::new_err("masked arrays are not supported"));
    }
    let (address, is_read_only) = data(&required("data")?)?;
    let item_size = item_size(&required("typestr")?)?;
    let shape: Vec<i64> = required("shape")?.extract()?;
    let strides: Option<Vec<i64>> = get("strides")?.map(|strides| strides.extract()).transpose()?;
    let (start, size) = strided::span(&shape, strides.as_deref(), item_size)
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    let pending = match get("stream")?.map(|stream| stream.extract::<u64>()).transpose()? {
        // Before version 3 nothing could be said, and PyTorch and JAX have older ones.
        None if get("version")?.is_none_or(|version| !version.ge(3).unwrap_or(false)) => {
            Pending::SomeStream
        }
        None => Pending::Nothing,
        Some(0) => {
            let text = "stream 0 is not allowed in __cuda_array_interface__";
            return Err(PyValueError::new_err(text));
        }
        Some(LEGACY_DEFAULT_STREAM) => Pending::DefaultStream,
        Some(_) => Pending::SomeStream,
    };
    let Some(address) = address else {
        if size > 0 {
            return Err(PyValueError::new_err(format!("an array of {size} bytes at no address")));
        }
        return Ok(Some(ArrayMemory { address: 0, size: 0, is_read_only, pending }));
    };
    let address = address
        .checked_add_signed(start)
        .ok_or_else(|| PyValueError::new_err("the array's strides leave the address space"))?;
    Ok(Some(ArrayMemory { address, size, is_read_only, pending }))
}

fn data(data: &Bound<'_, PyAny>) -> PyResult<(Option<u64>, bool)> {
    let size = data.len()?;
    if size == 0 {
        return Err(PyValueError::new_err("__cuda_array_interface__ has empty 'data'"));
    }
    let address: Option<u64> = data.get_item(0)?.extract()?;
    let is_read_only = size > 1 && data.get_item(1)?.is_truthy()?;
    Ok((address.filter(|address| *address != 0), is_read_only))
}

/// The size of an element, from NumPy's name for its type: `<f4`, `|V16`.
fn item_size(typestr: &Bound<'_, PyAny>) -> PyResult<i64> {
    let dtype = typestr.py().import("numpy")?.call_method1("dtype", (typestr,))?;
    dtype.getattr("itemsize")?.extract()
}
