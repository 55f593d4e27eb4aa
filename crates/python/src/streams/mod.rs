//! `Stream` and `Event`, and the streams of other libraries that are accepted.

pub(crate) mod argument;
mod classes;
mod event;
mod late_failure;
mod stream;

use crate::registration::private;
use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<classes::PyEvent>()?;
    module.add_class::<classes::PyStream>()?;
    private!(module, event::with_flags, stream::with_flags)
}
