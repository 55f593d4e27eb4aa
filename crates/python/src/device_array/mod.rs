//! `DeviceArray`: typed arrays in device memory.

mod arrow;
mod arrow_data;
mod attributes;
mod class;
mod constructors;
mod copies;
mod host;
mod import;
mod index;
mod protocols;
#[expect(unsafe_op_in_unsafe_fn, reason = "PyO3's code in the expansion of local macros")]
mod scalar;
mod views;

use crate::registration::{PACKAGE, Registration, functions};
use pyo3::prelude::*;

pub(crate) fn register(registration: &Registration<'_, '_>) -> PyResult<()> {
    registration.class::<class::PyDeviceArray>()?;
    registration.public(PACKAGE, functions!(registration, import::from_dlpack))?;
    registration.private(functions!(
        registration,
        arrow::array_of_arrow,
        arrow::arrow_parts,
        host::check_arrow,
        copies::set_writeback,
    ))
}
