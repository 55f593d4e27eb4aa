//! A replacement for pyarrow's own check that data lies on the host.
//!
//! Most methods of pyarrow's arrays, record batches and tables begin with that check.  It looks only at the first
//! buffer, and at the device with which a record batch was created.  So it misses batches that libarrow reads from
//! messages in device memory, and arrays that lie on a device in part.
//!
//! The check is a C function in a table of the class.  This module puts its own function into the table.

use super::refusal::refusal;
use crate::bounded_sequences::objects;
use crate::pyarrow::from_pyarrow::is_on_device;
use crate::pyarrow::pyarrow;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::cell::Cell;
use std::ffi::c_void;
use std::sync::OnceLock;

thread_local! {
    /// The address of the object of which a method begins in this thread that only hands it to functions which have
    /// guards of their own; 0 if none does.  The check takes it away: what the method calls later may be a program's
    /// code, such as the iterator of an argument, which must not read the object either.
    static TRUSTED: Cell<usize> = const { Cell::new(0) };
}

/// The check passes once for the object at an address, or for none at 0, until this is dropped.
pub(super) struct Trusted {
    before: usize,
}

impl Trusted {
    pub(super) fn begin(address: usize) -> Self {
        Self { before: TRUSTED.replace(address) }
    }
}

impl Drop for Trusted {
    fn drop(&mut self) {
        TRUSTED.set(self.before);
    }
}

/// Whether the check passes for an object, which it then does no more.
pub(super) fn take_trust(object: &Bound<'_, PyAny>) -> bool {
    let is_trusted = TRUSTED.get() == object.as_ptr().addr();
    if is_trusted {
        TRUSTED.set(0);
    }
    is_trusted
}

/// `void (object)`; a failure sets a Python exception.
type Assertion = unsafe extern "C" fn(object: *mut ffi::PyObject);

/// The functions that stand in for pyarrow's, and those: each of the three classes has its own.
const OURS: [Assertion; 3] = [assert_on_host::<0>, assert_on_host::<1>, assert_on_host::<2>];
static THEIRS: [OnceLock<Assertion>; 3] = [const { OnceLock::new() }; 3];

/// Replaces the function at a place in the `__pyx_vtable__` of each of the classes: one class, and
/// those that extend it and have the same function.  `number` is that of the class, from 0 to 2.
#[pyfunction(name = "_guard_assertion")]
pub(crate) fn guard_assertion(
    classes: &Bound<'_, PyAny>,
    place: usize,
    number: usize,
) -> PyResult<()> {
    let (Some(ours), Some(theirs)) = (OURS.get(number), THEIRS.get(number)) else { return Ok(()) };
    for class in objects(classes)? {
        let table = class.getattr("__pyx_vtable__")?.cast_into::<PyCapsule>()?;
        // SAFETY: the capsule has no name; the package has read in pyarrow's own declarations that
        // the table has such a function at that place.
        unsafe {
            let entry = table.pointer_checked(None)?.cast::<*mut c_void>().add(place).as_ptr();
            let found = *entry;
            let original =
                *theirs.get_or_init(|| std::mem::transmute::<*mut c_void, Assertion>(found));
            if found == original as *mut c_void {
                *entry = *ours as *mut c_void;
            }
        }
    }
    Ok(())
}

unsafe extern "C" fn assert_on_host<const NUMBER: usize>(object: *mut ffi::PyObject) {
    Python::attach(|py| {
        // SAFETY: pyarrow calls this with the object itself.
        let object = unsafe { Bound::from_borrowed_ptr(py, object) };
        match is_there(&object) {
            _ if take_trust(&object) => {}
            Ok(false) => {
                if let Some(original) = THEIRS.get(NUMBER).and_then(OnceLock::get) {
                    // SAFETY: what pyarrow itself would have called.
                    unsafe { original(object.as_ptr()) };
                }
            }
            Ok(true) => refusal(&object, None, None).unwrap_or_else(|error| error).restore(py),
            Err(error) => error.restore(py),
        }
    });
}

fn is_there(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(pyarrow(object.py())?.bridge.has_devices() && is_on_device(object)?)
}
