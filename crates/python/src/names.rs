//! The public names of the module.

use pyo3::PyClass;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyString, PyType};

/// Where users, and `pickle`, find a name of `pyarrow.cuda`: the module that stands in for
/// pyarrow's own.
pub(crate) const PYARROW: &str = "pyarrow._cuda";
/// Where they find a name that pyarrow does not have.
pub(crate) const PACKAGE: &str = "pyarrow_cuda_compat";

/// Adds names to the module.
pub(crate) struct Names<'a, 'py>(&'a Bound<'py, PyModule>);

impl<'a, 'py> Names<'a, 'py> {
    pub(crate) fn of(module: &'a Bound<'py, PyModule>) -> Self {
        Self(module)
    }

    pub(crate) fn module(&self) -> &'a Bound<'py, PyModule> {
        self.0
    }

    /// Adds a public class.
    pub(crate) fn class<T: PyClass>(&self) -> PyResult<()> {
        self.0.add_class::<T>()
    }

    /// Adds a public exception.
    pub(crate) fn exception(&self, class: &Bound<'py, PyType>) -> PyResult<()> {
        self.0.add(class.name()?, class)
    }

    /// Adds a public function, which users find in the module `home`.
    pub(crate) fn function(&self, function: Bound<'py, PyCFunction>, home: &str) -> PyResult<()> {
        function.setattr("__module__", home)?;
        self.0.add_function(function)
    }

    /// Adds a function for the package itself.
    pub(crate) fn private(&self, function: &Bound<'py, PyCFunction>) -> PyResult<()> {
        // Not `add_function`, which would list the name in `__all__` as well.
        self.0.setattr(function.getattr("__name__")?.cast::<PyString>()?, function)
    }
}
