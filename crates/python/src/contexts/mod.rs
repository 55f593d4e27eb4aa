//! Contexts, and arguments that name one.

pub(crate) mod argument;
pub(crate) mod context;
mod names;

use crate::registration::private;
use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<context::PyContext>()?;
    private!(module, argument::context_of)
}
