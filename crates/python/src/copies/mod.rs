//! The data of arguments, and the limits of staged copies.

mod limits;
pub(crate) mod source;

use crate::registration::{PACKAGE, Registration, functions};
use pyo3::prelude::*;

pub(crate) fn register(registration: &Registration<'_, '_>) -> PyResult<()> {
    let limits = functions!(registration, limits::set_transfer_limits, limits::transfer_limits);
    registration.public(PACKAGE, limits)
}
