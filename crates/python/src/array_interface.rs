//! The CUDA array interface: how other libraries describe their device arrays.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The memory behind an object's `__cuda_array_interface__`.
pub(crate) struct ArrayMemory {
    pub(crate) address: u64,
    pub(crate) size: u64,
    pub(crate) is_read_only: bool,
    /// A stream whose work has to be waited for.
    pub(crate) stream: Option<usize>,
}

/// What the object's interface says; none when it has no interface.
pub(crate) fn describe(object: &Bound<'_, PyAny>) -> PyResult<Option<ArrayMemory>> {
    let Some(interface) = object.getattr_opt("__cuda_array_interface__")? else {
        return Ok(None);
    };
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
    let (start, size) = contiguous_span(&shape, strides.as_deref(), item_size)?;
    let stream = get("stream")?.map(|stream| stream.extract()).transpose()?;
    if stream == Some(0) {
        return Err(PyValueError::new_err("stream 0 is not allowed in __cuda_array_interface__"));
    }
    let Some(address) = address else {
        if size > 0 {
            return Err(PyValueError::new_err(format!("an array of {size} bytes at no address")));
        }
        return Ok(Some(ArrayMemory { address: 0, size: 0, is_read_only, stream }));
    };
    let address = address
        .checked_add_signed(start)
        .ok_or_else(|| PyValueError::new_err("the array's strides leave the address space"))?;
    Ok(Some(ArrayMemory { address, size, is_read_only, stream }))
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

/// Where the array's memory begins, relative to its first element, and its size in bytes.
/// Elements may be in any order, but must lie side by side.
fn contiguous_span(shape: &[i64], strides: Option<&[i64]>, item_size: i64) -> PyResult<(i64, u64)> {
    let overflow = || PyValueError::new_err("the array's size overflows");
    if let Some(length) = shape.iter().find(|length| **length < 0) {
        return Err(PyValueError::new_err(format!("the array's shape has a length of {length}")));
    }
    if shape.contains(&0) || item_size == 0 {
        return Ok((0, 0));
    }
    let product = shape.iter().try_fold(item_size, |size, length| size.checked_mul(*length));
    let size = product.ok_or_else(overflow)?;
    let Some(strides) = strides else { return Ok((0, size.cast_unsigned())) };
    if strides.len() != shape.len() {
        return Err(PyValueError::new_err(format!(
            "the array has {} lengths but {} strides",
            shape.len(),
            strides.len()
        )));
    }
    let (mut start, mut end) = (0i64, item_size);
    for (length, stride) in shape.iter().zip(strides) {
        let reach = stride.checked_mul(length - 1).ok_or_else(overflow)?;
        let bound = if reach < 0 { &mut start } else { &mut end };
        *bound = bound.checked_add(reach).ok_or_else(overflow)?;
    }
    if end.checked_sub(start) != Some(size) {
        return Err(PyValueError::new_err("array data is non-contiguous"));
    }
    Ok((start, size.cast_unsigned()))
}
