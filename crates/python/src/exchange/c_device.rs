//! The extension's part of the C Device interface.  The methods themselves are pyarrow's, wrapped
//! in Python: `pyarrow_cuda_compat/_patches/device_arrays.py`.

use super::pointers::{Pointer, in_capsule};
use crate::contexts::argument::context_argument;
use crate::errors::OrRaise;
use crate::pyarrow::from_pyarrow::object_ref;
use crate::pyarrow::pyarrow;
use crate::pyarrow::to_pyarrow::replaced;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::ffi::CStr;
use std::ptr;

/// Names of capsules that hold a structure.
const ARRAY: &CStr = c"arrow_device_array";
const SCHEMA: &CStr = c"arrow_schema";

/// The sizes of the structures; C++ compares them with its own.
const ARRAY_SIZE: usize = 128;
const SCHEMA_SIZE: usize = 72;

/// An array, or a record batch if it `is_batch`, in the form that pyarrow can export: its nulls are counted,
/// and all of its memory is on one device.
#[pyfunction(name = "_prepare")]
pub(crate) fn prepare(object: Bound<'_, PyAny>, is_batch: bool) -> PyResult<Bound<'_, PyAny>> {
    replaced(object, |bridge, object| bridge.prepare(object, is_batch))
}

/// Has the default stream of an array's device wait for the work that the array was imported with, and marks its
/// memory as exposed: for a library that works on that stream.
#[pyfunction(name = "_make_ready")]
pub(crate) fn make_ready(array: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = array.py();
    pyarrow(py)?.bridge.make_ready(object_ref(array)).or_raise(py)
}

/// Inside `with stream:`, has that stream wait for the default stream: for results of a library that works there.
#[pyfunction(name = "_order_current_stream")]
pub(crate) fn order_current_stream(context: &Bound<'_, PyAny>) -> PyResult<()> {
    let (py, context) = (context.py(), context_argument(context)?.context().clone());
    py.detach(|| context.order_current_stream()).or_raise(py)
}

/// The addresses that pyarrow exports to, in the form in which pyarrow gets them.
#[pyfunction(name = "_export_places")]
pub(crate) fn export_places<'py>(
    array: &Bound<'py, PyAny>,
    schema: &Bound<'py, PyAny>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let told = |pointer: Option<Pointer<'py>>, given: &Bound<'py, PyAny>| {
        pointer.map_or_else(|| given.clone(), |pointer| pointer.object)
    };
    Ok((
        told(Pointer::of(array, ARRAY_SIZE)?, array),
        told(Pointer::or_null(schema, SCHEMA_SIZE)?, schema),
    ))
}

/// Adds an event to the structure of an array or record batch that pyarrow has just exported, if work on it
/// is pending.  A failure releases both structures.
#[pyfunction(name = "_finish_export")]
pub(crate) fn finish_export(
    object: &Bound<'_, PyAny>,
    array: &Bound<'_, PyAny>,
    schema: &Bound<'_, PyAny>,
    in_capsules: bool,
) -> PyResult<()> {
    let py = object.py();
    let places = match in_capsules {
        true => in_capsule(array, Some(ARRAY)).zip(in_capsule(schema, Some(SCHEMA))),
        false => {
            let array = Pointer::of(array, ARRAY_SIZE)?;
            let schema = Pointer::or_null(schema, SCHEMA_SIZE)?;
            array.zip(schema).map(|(array, schema)| (array.place, schema.place))
        }
    };
    let Some((array, schema)) = places else { return Ok(()) };
    // SAFETY: pyarrow has filled the structures at these places.
    unsafe { pyarrow(py)?.bridge.finish_export(object_ref(object), array, schema) }.or_raise(py)
}

/// Waits for an array's event where libarrow reads the data during the import, and counts the nulls of
/// an array that becomes a record batch.  Returns the arguments with which pyarrow imports.  A failure
/// releases both structures; `schema` may also be a `pyarrow.DataType` or `pyarrow.Schema`.
#[pyfunction(name = "_prepare_import")]
pub(crate) fn prepare_import<'py>(
    array: &Bound<'py, PyAny>,
    schema: &Bound<'py, PyAny>,
    in_capsules: bool,
    is_batch: bool,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    // pyarrow itself has the best error for an object without a structure.
    let as_they_are = || Ok((array.clone(), schema.clone()));
    let (place, array, described_at, schema) = if in_capsules {
        let Some(place) = in_capsule(array, Some(ARRAY)) else { return as_they_are() };
        let Some(described_at) = in_capsule(schema, Some(SCHEMA)) else { return as_they_are() };
        (place, array.clone(), described_at, schema.clone())
    } else {
        let Some(array) = Pointer::of(array, ARRAY_SIZE)? else { return as_they_are() };
        let (described_at, schema) = match Pointer::of(schema, SCHEMA_SIZE)? {
            Some(pointer) => (pointer.place, pointer.object),
            None => (ptr::null_mut(), schema.clone()),
        };
        (array.place, array.object, described_at, schema)
    };
    let consumed = replaced(schema.clone(), |bridge, described| {
        // SAFETY: pyarrow reads the structures at these places next.
        unsafe { bridge.prepare_import(place, described_at, Some(described), is_batch) }
    })?;
    match in_capsules && !consumed.is(&schema) {
        true => Ok((array, consumed.call_method0("__arrow_c_schema__")?)),
        false => Ok((array, consumed)),
    }
}

/// The array or record batch that libarrow has imported, or its replacement.
#[pyfunction(name = "_finish_import")]
pub(crate) fn finish_import<'py>(
    object: Bound<'py, PyAny>,
    array: &Bound<'py, PyAny>,
    in_capsules: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let place = match in_capsules {
        true => in_capsule(array, Some(ARRAY)),
        false => Pointer::of(array, ARRAY_SIZE)?.map(|pointer| pointer.place),
    };
    let Some(place) = place else { return Ok(object) };
    // SAFETY: pyarrow has imported the structure at this address, whose device field is still valid.
    replaced(object, |bridge, object| unsafe { bridge.finish_import(object, place) })
}

/// Has Python forget what it remembers of a class whose namespace was changed.
#[pyfunction(name = "_class_changed")]
pub(crate) fn class_changed(class: &Bound<'_, PyType>) {
    // SAFETY: a live type, and the GIL is held.
    unsafe { ffi::PyType_Modified(class.as_type_ptr()) };
}
