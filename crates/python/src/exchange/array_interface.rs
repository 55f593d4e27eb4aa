//! The CUDA array interface: Python's dictionary from and to plain values.

use crate::bounded_sequences::integers;
use crate::errors::OrRaise;
use crate::exchange::dtype::DType;
use crate::exchange::lazy_tensors::{check_resolved, method_of};
use crate::signals::wait_for_signals;
use arrow_cuda_context::{Consumer, Ready};
use arrow_cuda_numba_bridge::array_interface::ArrayInterface;
use arrow_cuda_numba_bridge::{ElementType, Kind, StridedArray};
use pyo3::exceptions::{
    PyException, PyLookupError, PyOSError, PyOverflowError, PySyntaxError, PyTypeError,
    PyUnicodeError, PyValueError,
};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

pub(crate) fn to_dict<'py>(
    py: Python<'py>,
    array: &StridedArray,
    dtype: &DType,
) -> PyResult<Bound<'py, PyDict>> {
    let ready = match array.buffer().is_empty() {
        true => Ready::by_caller(), // there is no address
        // Some consumers synchronise with the stream in this entry, but PyTorch does not.
        false => {
            let context = array.buffer().context();
            let make_ready = || context.make_ready_for(Consumer::Unknown, &[]);
            wait_for_signals(py, make_ready)?.or_raise(py)?
        }
    };
    let interface = ArrayInterface::of(array, &ready);
    let strides = interface.strides.map(|strides| PyTuple::new(py, strides)).transpose()?;
    let dict = PyDict::new(py);
    dict.set_item("shape", PyTuple::new(py, interface.shape)?)?;
    dict.set_item("typestr", dtype.typestr(py)?)?;
    dict.set_item("data", (interface.address.unwrap_or(0), interface.is_read_only))?;
    dict.set_item("version", interface.version)?;
    dict.set_item("strides", strides)?;
    dict.set_item("mask", py.None())?;
    dict.set_item("stream", interface.stream)?;
    if let Some(fields) = dtype.fields(py)? {
        dict.set_item("descr", fields)?;
    }
    Ok(dict)
}

/// The typestrs of single bits.
const BITS: [&str; 2] = ["<t1", "|t1"];

/// The interface of an object; `None` if it has no such attribute.
pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Option<ArrayInterface>> {
    match entries_of(object)? {
        Some(dict) => from_dict(&dict).map(Some).map_err(|error| malformed(object.py(), error)),
        None => Ok(None),
    }
}

/// Elements, as the interface of an object describes them.
pub(crate) enum Elements {
    Whole(DType),
    /// Single bits, of which the interface describes the bytes.
    Bits(usize),
}

/// The interface of an object, and its elements.
pub(crate) fn with_elements(
    object: &Bound<'_, PyAny>,
) -> PyResult<Option<(ArrayInterface, Elements)>> {
    let Some(dict) = entries_of(object)? else { return Ok(None) };
    let interface = from_dict(&dict).map_err(|error| malformed(object.py(), error))?;
    let elements = match bit_count(&dict)? {
        Some(count) => Elements::Bits(count),
        None => Elements::Whole(dtype_of(&dict, &interface)?),
    };
    Ok(Some((interface, elements)))
}

fn dtype_of(dict: &Bound<'_, PyDict>, interface: &ArrayInterface) -> PyResult<DType> {
    let py = dict.py();
    let typestr = required(dict, intern!(py, "typestr"))?;
    let dtype = DType::of(&typestr)?;
    // Only this entry names the fields of structures, and the gaps between them.  Elements without
    // fields are described there, too: as one field without a name.
    if let Some(fields) = optional(dict, intern!(py, "descr"))?
        && dtype.element().kind() == Kind::Opaque
        && !fields.eq([("", &typestr)])?
        && let Ok(structure) = described(&fields)
        && structure.element().size() == interface.element.size()
    {
        return Ok(structure);
    }
    Ok(dtype)
}

/// Whether the interface of an object marks the memory as read-only.  One that fails says nothing: PyTorch's
/// does for types that NumPy does not have.
pub(crate) fn is_marked_read_only(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = object.py();
    let mark = || -> PyResult<bool> {
        let Some(interface) = method_of(object, intern!(py, "__cuda_array_interface__"))? else {
            return Ok(false);
        };
        Ok(data(&required(interface.cast::<PyDict>()?, intern!(py, "data"))?)?.1)
    };
    match mark() {
        // The caller gets an error of the driver.
        Err(error) if error.is_instance_of::<PyOSError>(py) => Err(error),
        Err(error) if error.is_instance_of::<PyException>(py) => Ok(false),
        answer => answer,
    }
}

fn described(fields: &Bound<'_, PyAny>) -> PyResult<DType> {
    let format = fields.py().import("numpy.lib.format")?;
    DType::of(&format.call_method1("descr_to_dtype", (fields,))?)
}

fn entries_of<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyDict>>> {
    let py = object.py();
    let Some(interface) = object.getattr_opt(intern!(py, "__cuda_array_interface__"))? else {
        return Ok(None);
    };
    check_resolved(object)?;
    // JAX queues work on threads of its own, and describes its array before the device knows of it.
    if let Some(wait) = method_of(object, intern!(py, "block_until_ready"))? {
        wait.call0()?;
    }
    let interface = interface.cast_into::<PyDict>();
    interface.map(Some).map_err(|_| PyTypeError::new_err("__cuda_array_interface__ must be a dict"))
}

fn optional<'py>(
    dict: &Bound<'py, PyDict>,
    key: &Bound<'py, PyString>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    Ok(dict.get_item(key)?.filter(|value| !value.is_none()))
}

fn required<'py>(
    dict: &Bound<'py, PyDict>,
    key: &Bound<'py, PyString>,
) -> PyResult<Bound<'py, PyAny>> {
    optional(dict, key)?
        .ok_or_else(|| PyValueError::new_err(format!("__cuda_array_interface__ has no '{key}'")))
}

/// A `ValueError` instead of what Python and NumPy raise while they read an entry of another form: a number that is too
/// large, no first item, a typestr that does not parse.  Other errors are those of the object.
fn malformed(py: Python<'_>, error: PyErr) -> PyErr {
    match error.is_instance_of::<PyOverflowError>(py)
        || error.is_instance_of::<PyLookupError>(py)
        || error.is_instance_of::<PySyntaxError>(py)
        || error.is_instance_of::<PyUnicodeError>(py)
    {
        true => PyValueError::new_err(format!("__cuda_array_interface__ is malformed: {error}")),
        false => error,
    }
}

fn from_dict(dict: &Bound<'_, PyDict>) -> PyResult<ArrayInterface> {
    let py = dict.py();
    let get = |key| optional(dict, key);
    let required = |key| required(dict, key);
    let (address, is_read_only) = data(&required(intern!(py, "data"))?)?;
    let (shape, element) = match bit_count(dict)? {
        Some(count) => (vec![count.div_ceil(8) as i64], ElementType::uint(1)),
        None => (
            integers(&required(intern!(py, "shape"))?)?,
            element_of(&required(intern!(py, "typestr"))?)?,
        ),
    };
    Ok(ArrayInterface {
        shape,
        element,
        address,
        is_read_only,
        strides: get(intern!(py, "strides"))?.map(|strides| integers(&strides)).transpose()?,
        version: get(intern!(py, "version"))?.and_then(|version| version.extract().ok()),
        stream: get(intern!(py, "stream"))?.map(|stream| stream.extract()).transpose()?,
        has_mask: get(intern!(py, "mask"))?.is_some(),
    })
}

/// How many elements there are, if they are single bits, the lowest bit of each byte first: masks of cuDF.  NumPy has
/// no such type.
fn bit_count(dict: &Bound<'_, PyDict>) -> PyResult<Option<usize>> {
    let py = dict.py();
    let typestr = required(dict, intern!(py, "typestr"))?;
    if !typestr.extract::<&str>().is_ok_and(|typestr| BITS.contains(&typestr)) {
        return Ok(None);
    }
    let shape = integers(&required(dict, intern!(py, "shape"))?)?;
    let has_strides = optional(dict, intern!(py, "strides"))?.is_some();
    match shape[..] {
        [count] if count >= 0 && !has_strides => Ok(Some(count as usize)),
        _ => Err(PyValueError::new_err(
            "an array of single bits has one dimension and no strides: other ones are not supported",
        )),
    }
}

fn data(data: &Bound<'_, PyAny>) -> PyResult<(Option<u64>, bool)> {
    let size = data.len()?;
    if size == 0 {
        return Err(PyValueError::new_err("__cuda_array_interface__ has empty 'data'"));
    }
    Ok((data.get_item(0)?.extract()?, size > 1 && data.get_item(1)?.is_truthy()?))
}

/// The element that a typestr names, which may be of a kind that no device array has: a buffer is
/// bytes alone.
fn element_of(typestr: &Bound<'_, PyAny>) -> PyResult<ElementType> {
    match typestr.extract::<&str>().ok().and_then(|typestr| typestr.parse().ok()) {
        Some(element) => Ok(element),
        None => Ok(DType::of(typestr)?.element()),
    }
}
