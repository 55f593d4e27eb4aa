//! Owners that are Python objects.

use super::gil::{with_exception_kept, with_gil};
use arrow_cuda_driver::is_exiting;
use pyo3::prelude::*;
use std::cell::{Cell, RefCell};

/// A Python object that keeps foreign memory valid.
pub(crate) struct Owner(Option<Py<PyAny>>);

impl Owner {
    pub(crate) fn new(object: Py<PyAny>) -> Self {
        Self(Some(object))
    }

    pub(crate) fn bind<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        // None only once this is dropped.
        self.0.as_ref().map_or_else(|| py.None().into_bound(py), |object| object.bind(py).clone())
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let Some(object) = self.0.take() else { return };
        if is_exiting() {
            // If the interpreter is gone, the reference no longer matters.
            std::mem::forget(object);
        } else {
            with_gil(Box::new(|py| release(py, object)));
        }
    }
}

/// How many owners may be released within each other.  A longer chain of views of views would
/// exhaust the stack.
const DEEPEST: u32 = 50;

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// Owners that wait until those around them are released.
    static WAITING: RefCell<Vec<Py<PyAny>>> = const { RefCell::new(Vec::new()) };
}

fn release(py: Python<'_>, object: Py<PyAny>) {
    let depth = DEPTH.get();
    if depth >= DEEPEST {
        return WAITING.with_borrow_mut(|waiting| waiting.push(object));
    }
    // The deleter of a DLPack tensor may call Python code.
    with_exception_kept(py, || {
        DEPTH.set(depth + 1);
        drop(object);
        if depth == 0 {
            while let Some(next) = WAITING.with_borrow_mut(Vec::pop) {
                drop(next);
            }
        }
        DEPTH.set(depth);
    });
}
