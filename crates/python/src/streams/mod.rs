//! `Stream` and `Event`, and the streams of other libraries that are accepted.

pub(crate) mod argument;
mod classes;
mod event;
mod late_failure;
mod stream;

use crate::registration::{Registration, functions};
use pyo3::prelude::*;

pub(crate) fn register(registration: &Registration<'_, '_>) -> PyResult<()> {
    registration.class::<classes::PyEvent>()?;
    registration.class::<classes::PyStream>()?;
    registration.private(functions!(registration, event::with_flags, stream::with_flags))
}
