//! `Stream` and `Event`, and the streams of other libraries that are accepted.

pub(crate) mod argument;
mod event;
mod late_failure;
mod objects;
mod stream;

use crate::names::Names;
use pyo3::prelude::*;
use pyo3::wrap_pyfunction;

pub(crate) fn register(names: &Names<'_, '_>) -> PyResult<()> {
    let module = names.module();
    names.class::<objects::PyEvent>()?;
    names.class::<objects::PyStream>()?;
    names.private(&wrap_pyfunction!(event::with_flags, module)?)?;
    names.private(&wrap_pyfunction!(stream::with_flags, module)?)
}
