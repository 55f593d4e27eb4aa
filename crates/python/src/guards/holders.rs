//! Which objects may give data though they are none: iterators, containers, what makes arrays.
//!
//! Most arguments of most calls are asked about, so the answer is by class, and is kept.

use crate::pyarrow::pyarrow;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PyString, PyType};
use std::sync::{Mutex, PoisonError};

/// Methods by which pyarrow asks an object for an array.
const MAKES_ARRAYS: [&str; 2] = ["__arrow_array__", "__arrow_c_device_array__"];

#[derive(Clone, Copy)]
enum Holds {
    Nothing,
    /// An array, or series, which holds objects if its type of elements says so.
    Elements,
    Anything,
}

/// A class, which is retained so that its address stays its own, and the answer.
type Known = Option<(Py<PyType>, Holds)>;

/// By some bits of the class's address.
static KNOWN: Mutex<[Known; 64]> = Mutex::new([const { None }; 64]);

fn place_of(class: &Bound<'_, PyType>) -> usize {
    (class.as_ptr().addr() >> 4) % 64
}

fn known(class: &Bound<'_, PyType>) -> Option<Holds> {
    let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let (kept, holds) = known.get(place_of(class))?.as_ref()?;
    (kept.as_ptr() == class.as_ptr()).then_some(*holds)
}

fn keep(class: &Bound<'_, PyType>, holds: Holds) {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let former = known
        .get_mut(place_of(class))
        .and_then(|place| place.replace((class.clone().unbind(), holds)));
    drop(known);
    drop(former); // which may run Python code
}

pub(super) fn may_hold(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let class = object.get_type();
    let holds = match known(&class) {
        Some(holds) => holds,
        None => {
            let holds = by_class(object, &class)?;
            keep(&class, holds);
            holds
        }
    };
    match holds {
        Holds::Nothing => Ok(false),
        Holds::Elements => {
            let py = object.py();
            let Ok(dtype) = object.getattr(intern!(py, "dtype")) else { return Ok(false) };
            match dtype.getattr_opt(intern!(py, "hasobject"))? {
                Some(has_objects) => has_objects.is_truthy(),
                // What pandas keeps as Arrow's arrays.
                None => dtype.hasattr(intern!(py, "pyarrow_dtype")),
            }
        }
        Holds::Anything => Ok(true),
    }
}

fn by_class(object: &Bound<'_, PyAny>, class: &Bound<'_, PyType>) -> PyResult<Holds> {
    let py = class.py();
    if class.is_subclass(pyarrow(py)?.native_file.bind(py))? {
        return Ok(Holds::Nothing);
    }
    // SAFETY: a live object, and the GIL is held.
    if unsafe { ffi::PyIter_Check(object.as_ptr()) } != 0 {
        return Ok(Holds::Anything);
    }
    let module = class.getattr("__module__")?;
    let module = module.extract::<String>().unwrap_or_default();
    let is_bytes = class.is_subclass_of::<PyString>()?
        || class.is_subclass_of::<PyBytes>()?
        || class.is_subclass_of::<PyByteArray>()?
        || class.is_subclass_of::<PyMemoryView>()?;
    if is_bytes || module == "pyarrow" || module.starts_with("pyarrow.") {
        return Ok(Holds::Nothing);
    }
    for name in MAKES_ARRAYS {
        if class.hasattr(name).unwrap_or(false) {
            return Ok(Holds::Anything);
        }
    }
    // SAFETY: a live class, and the GIL is held.
    let has = |slot| !unsafe { ffi::PyType_GetSlot(class.as_type_ptr(), slot) }.is_null();
    let is_container = has(ffi::Py_tp_iter) || has(ffi::Py_sq_item);
    Ok(match is_container {
        false => Holds::Nothing,
        true if class.hasattr("__array__").unwrap_or(false) => Holds::Elements,
        true => Holds::Anything,
    })
}
