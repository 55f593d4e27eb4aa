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
mod nulls;
mod protocols;
#[expect(unsafe_op_in_unsafe_fn, reason = "PyO3's code in the expansion of local macros")]
mod scalar;
mod views;

use crate::registration::{PACKAGE, private, public};
use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<class::PyDeviceArray>()?;
    public!(module, PACKAGE, import::from_dlpack)?;
    private!(
        module,
        arrow::array_of_arrow,
        arrow::arrow_parts,
        arrow::numbers,
        arrow::numbers_as_tensor,
        arrow::with_arrow_type,
        host::check_arrow,
        nulls::booleans_of_bits,
        nulls::filled,
        protocols::interface_of,
        copies::set_writeback,
    )
}
