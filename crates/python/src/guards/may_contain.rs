//! Tells which objects may contain data, besides pyarrow's own arrays, tables and buffers.
//!
//! The answer depends on the object's class.  Guards ask for most arguments of most calls, so the answers for
//! classes that cannot change are cached.

use crate::pyarrow::from_pyarrow::{is_of, object_ref};
use crate::pyarrow::pyarrow;
use arrow_cuda_bridge::BatchSource;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PyString, PyType};
use std::ffi::c_int;
use std::sync::{Mutex, PoisonError};

/// Methods by which pyarrow asks an object for an array.
const MAKES_ARRAYS: [&str; 2] = ["__arrow_array__", "__arrow_c_device_array__"];
/// Methods by which pyarrow asks another library's object for host memory.
const LENDS_HOST_MEMORY: [&str; 2] = ["__arrow_c_stream__", "__arrow_c_array__"];
/// Not in `PyO3` for the limited API of 3.11.
const IMMUTABLE_TYPE: std::ffi::c_ulong = 1 << 8;

/// The contents of the objects of a class.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Contents {
    /// No data, or none that pyarrow would look at.
    Nothing,
    /// A message has a body, which may lie on a device.
    Message,
    /// A reader of record batches.
    Batches,
    /// pyarrow asks the object for an array.
    Array,
    /// An array or series of another library, whose dtype says what it contains.
    Elements,
    Mapping,
    /// Items that can be read once only, or whose number is not known.
    Stream,
    /// Items that can be read again.
    Items,
}

/// A class, which is retained so that its address stays its own, and the answer.
type Cached = Option<(Py<PyType>, Contents)>;

/// By some bits of the class's address.
static CACHE: Mutex<[Cached; 64]> = Mutex::new([const { None }; 64]);

fn place_of(class: &Bound<'_, PyType>) -> usize {
    (class.as_ptr().addr() >> 4) % 64
}

fn cached(class: &Bound<'_, PyType>) -> Option<Contents> {
    let cache = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    let (kept, contents) = cache.get(place_of(class))?.as_ref()?;
    (kept.as_ptr() == class.as_ptr()).then_some(*contents)
}

fn keep(class: &Bound<'_, PyType>, contents: Contents) {
    let mut cache = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    let former = cache
        .get_mut(place_of(class))
        .and_then(|place| place.replace((class.clone().unbind(), contents)));
    drop(cache);
    drop(former); // which may run Python code
}

/// Whether one of the objects may be the first to use a device, when pyarrow reads its items.
pub(super) fn are_lazy<'py>(
    mut objects: impl Iterator<Item = Bound<'py, PyAny>>,
) -> PyResult<bool> {
    objects.try_fold(false, |found, object| {
        let class = object.get_type();
        let has_items = fills(&class, ffi::Py_tp_iter) || fills(&class, ffi::Py_sq_item);
        // A class of C with a length has its items already; one of Python code may make them when it is asked.
        if found || !has_items || (has_length(&class) && is_immutable(&class)) {
            return Ok(found);
        }
        Ok(match contents_of(&object)? {
            Contents::Batches => source_of(&object)? == BatchSource::Iterable,
            contents => {
                matches!(contents, Contents::Stream | Contents::Items | Contents::Mapping)
            }
        })
    })
}

/// The origin of the batches of an object, if it is a reader of those.
pub(super) fn source_of(object: &Bound<'_, PyAny>) -> PyResult<BatchSource> {
    let pyarrow = pyarrow(object.py())?;
    if !is_of(object, &pyarrow.lib.record_batch_reader) {
        return Ok(BatchSource::Other);
    }
    // SAFETY: an object of that class.
    Ok(unsafe { pyarrow.bridge.source_of(object_ref(object)) })
}

/// The contents of an object, by its class.
pub(super) fn contents_of(object: &Bound<'_, PyAny>) -> PyResult<Contents> {
    let class = object.get_type();
    if let Some(contents) = cached(&class) {
        return Ok(contents);
    }
    let is_pyarrows = is_pyarrows(&class)?;
    // SAFETY: a live object, and the GIL is held.  Classes of Python code have the slot in any case.
    let is_iterator = unsafe { ffi::PyIter_Check(object.as_ptr()) } != 0;
    let contents = match by_class(&class, is_pyarrows, is_iterator)? {
        Contents::Stream | Contents::Items if is_file(object)? => Contents::Nothing,
        contents => contents,
    };
    if is_immutable(&class) || is_pyarrows {
        keep(&class, contents);
    }
    Ok(contents)
}

/// Whether the class is one of C that cannot change.
fn is_immutable(class: &Bound<'_, PyType>) -> bool {
    // SAFETY: a live type, and the GIL is held.
    unsafe { ffi::PyType_GetFlags(class.as_type_ptr()) & IMMUTABLE_TYPE != 0 }
}

fn is_pyarrows(class: &Bound<'_, PyType>) -> PyResult<bool> {
    let module = class.getattr("__module__")?;
    let module = module.extract::<String>().unwrap_or_default();
    Ok(module == "pyarrow" || module.starts_with("pyarrow."))
}

fn by_class(class: &Bound<'_, PyType>, is_pyarrows: bool, is_iterator: bool) -> PyResult<Contents> {
    let py = class.py();
    let pyarrow = pyarrow(py)?;
    if class.is_subclass(pyarrow.lib.message.bind(py))? {
        return Ok(Contents::Message);
    }
    if class.is_subclass(pyarrow.lib.record_batch_reader.bind(py))? {
        return Ok(Contents::Batches);
    }
    let is_bytes = class.is_subclass_of::<PyString>()?
        || class.is_subclass_of::<PyBytes>()?
        || class.is_subclass_of::<PyByteArray>()?
        || class.is_subclass_of::<PyMemoryView>()?;
    if is_pyarrows || is_bytes || class.is_subclass(pyarrow.lib.native_file.bind(py))? {
        return Ok(Contents::Nothing);
    }
    let has = |name: &&str| class.hasattr(*name).unwrap_or(false);
    if MAKES_ARRAYS.iter().any(has) {
        return Ok(Contents::Array);
    }
    if !fills(class, ffi::Py_tp_iter) && !fills(class, ffi::Py_sq_item) {
        return Ok(Contents::Nothing);
    }
    static MAPPING: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    if class.is_subclass(MAPPING.import(py, "collections.abc", "Mapping")?)? {
        return Ok(Contents::Mapping);
    }
    if has(&"__array__") {
        return Ok(Contents::Elements);
    }
    if LENDS_HOST_MEMORY.iter().any(has) {
        return Ok(Contents::Nothing);
    }
    match has_length(class) && !is_iterator {
        true => Ok(Contents::Items),
        false => Ok(Contents::Stream),
    }
}

fn is_file(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let has_any = |names: &[&str]| -> PyResult<bool> {
        for name in names {
            if object.hasattr(*name)? {
                return Ok(true);
            }
        }
        Ok(false)
    };
    // Readers of batches have `read`, too.
    Ok(has_any(&["read", "write"])? && has_any(&["closed", "seek", "readline"])?)
}

fn has_length(class: &Bound<'_, PyType>) -> bool {
    fills(class, ffi::Py_sq_length) || fills(class, ffi::Py_mp_length)
}

fn fills(class: &Bound<'_, PyType>, slot: c_int) -> bool {
    // SAFETY: a live class, and the GIL is held.
    !unsafe { ffi::PyType_GetSlot(class.as_type_ptr(), slot) }.is_null()
}
