//! The functions and classes of the imported pyarrow, fetched and checked once.

mod capsules;
pub(crate) mod classes;
pub(crate) mod cython_subclass;
pub(crate) mod from_pyarrow;
mod lib_members;
mod members;
pub(crate) mod to_pyarrow;

pub(crate) use lib_members::Lib;

use arrow_cuda_bridge::Bridge;
use pyo3::exceptions::{PyImportError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use std::path::Path;

/// The parts of the imported pyarrow that this extension works with.
pub(crate) struct Pyarrow {
    pub(crate) bridge: Bridge,
    pub(crate) lib: Lib,
}

static PYARROW: PyOnceLock<Pyarrow> = PyOnceLock::new();

/// Loads the bridge for the imported pyarrow.
pub(crate) fn start(py: Python<'_>, bridge: &Path) -> PyResult<&'static Pyarrow> {
    PYARROW.get_or_try_init(py, || load(py, bridge))
}

fn load(py: Python<'_>, bridge: &Path) -> PyResult<Pyarrow> {
    let module = py.import("pyarrow.lib")?;
    let lib: Lib = module.extract()?;
    // The sizes of its objects in the versions that the bridge was written for.
    for (class, size) in [
        (&lib.buffer, 64),
        (&lib.native_file, 104),
        (&lib.dictionary_memo, 48),
        (&lib.record_batch_reader, 40),
        (&lib.device, 48),
        (&lib.memory_manager, 48),
        (&lib.memory_pool, 40),
    ] {
        check_size(class.bind(py), size)?;
    }
    let pointers = capsules::pointers(&module, &lib)?;
    // SAFETY: the pointers are the imported pyarrow's, and the Python side picks the library by
    // its release, of which the major version is checked here again.
    let bridge = unsafe { Bridge::load(bridge, pointers) }
        .map_err(|fault| PyImportError::new_err(fault.text))?;
    let major: i32 = module.getattr("cpp_version_info")?.getattr("major")?.extract()?;
    if bridge.arrow_major() != major {
        return Err(PyImportError::new_err(format!(
            "the Arrow bridge was built for pyarrow {}, but pyarrow {major} is imported",
            bridge.arrow_major()
        )));
    }
    Ok(Pyarrow { bridge, lib })
}

fn check_size(class: &Bound<'_, PyType>, expected: usize) -> PyResult<()> {
    let size: usize = class.getattr("__basicsize__")?.extract()?;
    if size == expected {
        return Ok(());
    }
    Err(PyImportError::new_err(format!(
        "{} objects have {size} bytes, not {expected}: this pyarrow is not laid out as the \
         supported ones are",
        class.fully_qualified_name()?
    )))
}

pub(crate) fn pyarrow(py: Python<'_>) -> PyResult<&'static Pyarrow> {
    PYARROW.get(py).ok_or_else(not_started)
}

pub(crate) fn not_started() -> PyErr {
    PyRuntimeError::new_err("import pyarrow_cuda_compat, not its native module alone")
}
