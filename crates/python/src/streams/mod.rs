//! `Stream` and `Event`, and the streams of other libraries that are accepted.

pub(crate) mod argument;
mod event;
mod late_failure;
mod objects;
mod stream;

use crate::names::Names;
use pyo3::prelude::*;

pub(crate) fn register(names: &Names<'_, '_>) -> PyResult<()> {
    names.class::<objects::PyEvent>()?;
    names.class::<objects::PyStream>()
}
