//! Contexts, and arguments that name one.

pub(crate) mod argument;
pub(crate) mod context;

use crate::registration::{Registration, functions};
use pyo3::prelude::*;

pub(crate) fn register(registration: &Registration<'_, '_>) -> PyResult<()> {
    registration.class::<context::PyContext>()?;
    registration.private(functions!(registration, argument::context_of))
}
