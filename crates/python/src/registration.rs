//! Adds classes and functions to the module, public ones under the names that users find.

use pyo3::PyClass;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyString, PyType};

/// The module in which users, and `pickle`, find a name of `pyarrow.cuda`: it stands in for
/// pyarrow's own.
pub(crate) const PYARROW: &str = "pyarrow._cuda";
/// The module in which they find a name that pyarrow does not have.
pub(crate) const PACKAGE: &str = "pyarrow_cuda_compat";

/// Functions for a module, as Python objects.
macro_rules! functions {
    ($registration:expr, $($function:path),+ $(,)?) => {
        [$(pyo3::wrap_pyfunction!($function, $registration.module())?),+]
    };
}
pub(crate) use functions;

pub(crate) struct Registration<'a, 'py>(&'a Bound<'py, PyModule>);

impl<'a, 'py> Registration<'a, 'py> {
    pub(crate) fn of(module: &'a Bound<'py, PyModule>) -> Self {
        Self(module)
    }

    pub(crate) fn module(&self) -> &'a Bound<'py, PyModule> {
        self.0
    }

    pub(crate) fn class<T: PyClass>(&self) -> PyResult<()> {
        self.0.add_class::<T>()
    }

    pub(crate) fn exception(&self, class: &Bound<'py, PyType>) -> PyResult<()> {
        self.0.add(class.name()?, class)
    }

    /// Adds public functions, which users find in the module `home`.
    pub(crate) fn public<const N: usize>(
        &self,
        home: &str,
        functions: [Bound<'py, PyCFunction>; N],
    ) -> PyResult<()> {
        for function in functions {
            function.setattr("__module__", home)?;
            self.0.add_function(function)?;
        }
        Ok(())
    }

    /// Adds functions for the package itself.
    pub(crate) fn private<const N: usize>(
        &self,
        functions: [Bound<'py, PyCFunction>; N],
    ) -> PyResult<()> {
        for function in functions {
            // Not `add_function`, which would list the name in `__all__` as well.
            self.0.setattr(function.getattr("__name__")?.cast::<PyString>()?, function)?;
        }
        Ok(())
    }

    pub(crate) fn private_class<T: PyClass>(&self) -> PyResult<()> {
        self.0.setattr(T::NAME, self.0.py().get_type::<T>())
    }
}
