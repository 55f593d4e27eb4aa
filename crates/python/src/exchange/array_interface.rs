//! The CUDA array interface: Python's dictionary from and to plain values.

use crate::errors::OrRaise;
use crate::exchange::element_type;
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::Consumer;
use arrow_cuda_numba_bridge::Layout;
use arrow_cuda_numba_bridge::array_interface::{ArrayInterface, ArrayMemory};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// Describes elements that begin at a buffer's start.
pub(crate) fn to_dict<'py>(
    py: Python<'py>,
    buffer: &DeviceBuffer,
    layout: &Layout,
) -> PyResult<Bound<'py, PyDict>> {
    if !buffer.is_empty() {
        // Some consumers synchronise with the stream in this entry, but PyTorch does not.
        let ready = py.detach(|| buffer.context().make_ready_for(Consumer::Unknown));
        ready.or_raise(py)?;
    }
    let interface = ArrayInterface::of(buffer, layout);
    let strides = interface.strides.map(|strides| PyTuple::new(py, strides)).transpose()?;
    let dict = PyDict::new(py);
    dict.set_item("shape", PyTuple::new(py, interface.shape)?)?;
    dict.set_item("typestr", interface.element.to_string())?;
    dict.set_item("data", (interface.address.unwrap_or(0), interface.is_read_only))?;
    dict.set_item("version", interface.version)?;
    dict.set_item("strides", strides)?;
    dict.set_item("mask", py.None())?;
    dict.set_item("stream", interface.stream)?;
    Ok(dict)
}

/// The memory that an object describes; none when it has no interface.
pub(crate) fn memory_of(object: &Bound<'_, PyAny>) -> PyResult<Option<ArrayMemory>> {
    let Some(interface) = object.getattr_opt("__cuda_array_interface__")? else {
        return Ok(None);
    };
    // JAX queues work on threads of its own, and describes its array before the device knows of it.
    if let Some(wait) = object.getattr_opt("block_until_ready")? {
        wait.call0()?;
    }
    let interface = interface
        .cast_into::<PyDict>()
        .map_err(|_| PyTypeError::new_err("__cuda_array_interface__ must be a dict"))?;
    from_dict(&interface)?.memory().or_raise(object.py()).map(Some)
}

fn from_dict(dict: &Bound<'_, PyDict>) -> PyResult<ArrayInterface> {
    let get = |key: &str| -> PyResult<Option<Bound<'_, PyAny>>> {
        Ok(dict.get_item(key)?.filter(|value| !value.is_none()))
    };
    let required = |key: &str| {
        get(key)?.ok_or_else(|| {
            PyValueError::new_err(format!("__cuda_array_interface__ has no '{key}'"))
        })
    };
    let (address, is_read_only) = data(&required("data")?)?;
    Ok(ArrayInterface {
        shape: required("shape")?.extract()?,
        element: element_type::of_array(&required("typestr")?)?,
        address,
        is_read_only,
        strides: get("strides")?.map(|strides| strides.extract()).transpose()?,
        version: get("version")?.and_then(|version| version.extract().ok()),
        stream: get("stream")?.map(|stream| stream.extract()).transpose()?,
        has_mask: get("mask")?.is_some(),
    })
}

fn data(data: &Bound<'_, PyAny>) -> PyResult<(Option<u64>, bool)> {
    let size = data.len()?;
    if size == 0 {
        return Err(PyValueError::new_err("__cuda_array_interface__ has empty 'data'"));
    }
    Ok((data.get_item(0)?.extract()?, size > 1 && data.get_item(1)?.is_truthy()?))
}
