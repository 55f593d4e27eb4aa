//! The data of arguments, and the limits of staged copies.

mod limits;
pub(crate) mod source;

use crate::registration::{PACKAGE, public};
use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    public!(module, PACKAGE, limits::set_transfer_limits, limits::transfer_limits)
}
