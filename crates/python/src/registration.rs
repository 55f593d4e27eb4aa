//! Adds functions to the module, public ones under the names that users find.

use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyString};

/// The module in which users, and `pickle`, find a name of `pyarrow.cuda`: it stands in for
/// pyarrow's own.
pub(crate) const PYARROW: &str = "pyarrow._cuda";
/// The module in which they find a name that pyarrow does not have.
pub(crate) const PACKAGE: &str = "pyarrow_cuda_compat";

/// Adds public functions, which users find in the module `home`.
macro_rules! public {
    ($module:expr, $home:expr, $($function:path),+ $(,)?) => {
        crate::registration::add_public(
            $module,
            $home,
            [$(pyo3::wrap_pyfunction!($function, $module)?),+],
        )
    };
}
pub(crate) use public;

/// Adds functions for the package itself.
macro_rules! private {
    ($module:expr, $($function:path),+ $(,)?) => {
        crate::registration::add_private($module, [$(pyo3::wrap_pyfunction!($function, $module)?),+])
    };
}
pub(crate) use private;

pub(crate) fn add_public<'py, const N: usize>(
    module: &Bound<'py, PyModule>,
    home: &str,
    functions: [Bound<'py, PyCFunction>; N],
) -> PyResult<()> {
    for function in functions {
        function.setattr("__module__", home)?;
        module.add_function(function)?;
    }
    Ok(())
}

pub(crate) fn add_private<'py, const N: usize>(
    module: &Bound<'py, PyModule>,
    functions: [Bound<'py, PyCFunction>; N],
) -> PyResult<()> {
    for function in functions {
        // Not `add_function`, which would list the name in `__all__` as well.
        module.setattr(function.getattr("__name__")?.cast::<PyString>()?, function)?;
    }
    Ok(())
}
