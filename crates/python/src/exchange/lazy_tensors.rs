//! Tensors whose values are not those in memory.
//!
//! PyTorch conjugates and negates lazily: the result shares the memory, and a bit says that readers have to
//! conjugate or negate.  Neither DLPack nor the array interface carries the bit, and PyTorch does not refuse
//! all such exports.

use pyo3::exceptions::PyBufferError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;

/// Refuses a tensor that is conjugated or negated lazily.
pub(crate) fn check_resolved(object: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = object.py();
    for (question, done, way_out) in [
        (intern!(py, "is_conj"), "conjugated", "resolve_conj()"),
        (intern!(py, "is_neg"), "negated", "resolve_neg()"),
    ] {
        if let Some(method) = method_of(object, question)?
            && method.is_callable()
            && method.call0()?.is_truthy()?
        {
            return Err(PyBufferError::new_err(format!(
                "the tensor is lazily {done}: its memory holds other values. Pass tensor.{way_out}"
            )));
        }
    }
    Ok(())
}

/// As above, from Python.
#[pyfunction(name = "_check_resolved")]
pub(crate) fn check_resolved_owner(object: &Bound<'_, PyAny>) -> PyResult<()> {
    check_resolved(object)
}

/// A method that few libraries have.  If it is missing, `getattr_opt` would create an exception; `getattr` does not.
pub(crate) fn method_of<'py>(
    object: &Bound<'py, PyAny>,
    name: &Bound<'py, PyString>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    static GETATTR: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = object.py();
    let missing = py.NotImplemented();
    let method = GETATTR.import(py, "builtins", "getattr")?.call1((object, name, &missing))?;
    Ok((!method.is(&missing)).then_some(method))
}
