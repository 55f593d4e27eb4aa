//! Typed arrays in device memory.

mod arrow;
pub(crate) mod asarray;
mod copies;
mod device_array;
mod host;
mod import;
mod index;
mod protocols;
mod registered;
mod scalar;
mod views;
mod writeback;

use crate::names::{Names, PACKAGE};
use pyo3::prelude::*;
use pyo3::wrap_pyfunction;

pub(crate) fn register(names: &Names<'_, '_>) -> PyResult<()> {
    let module = names.module();
    names.class::<device_array::PyDeviceArray>()?;
    names.function(wrap_pyfunction!(import::from_dlpack, module)?, PACKAGE)?;
    let registered = module.py().get_type::<registered::PyRegisteredArray>();
    module.setattr("_RegisteredArray", registered)?; // not `add`, which would list it in `__all__`
    names.private(&wrap_pyfunction!(arrow::array_of_arrow, module)?)?;
    names.private(&wrap_pyfunction!(host::check_arrow, module)?)?;
    names.private(&wrap_pyfunction!(arrow::arrow_parts, module)?)
}
