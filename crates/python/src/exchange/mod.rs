//! Exchange with other libraries.

mod addresses;
pub(crate) mod array_interface;
mod c_device;
mod copy_to;
mod device_streams;
pub(crate) mod dlpack;
pub(crate) mod dtype;
mod numba;
mod pickling;
mod pointers;
pub(crate) mod views;

use crate::names::Names;
use pyo3::prelude::*;
use pyo3::wrap_pyfunction;

pub(crate) fn register(names: &Names<'_, '_>) -> PyResult<()> {
    let module = names.module();
    for function in [
        wrap_pyfunction!(c_device::finish_export, module)?,
        wrap_pyfunction!(c_device::export_places, module)?,
        wrap_pyfunction!(c_device::prepare, module)?,
        wrap_pyfunction!(copy_to::copy_to, module)?,
        wrap_pyfunction!(copy_to::buffer_to, module)?,
        wrap_pyfunction!(copy_to::placed, module)?,
        wrap_pyfunction!(device_streams::check_has_data, module)?,
        wrap_pyfunction!(device_streams::export_stream, module)?,
        wrap_pyfunction!(device_streams::import_stream, module)?,
        wrap_pyfunction!(device_streams::import_chunks, module)?,
        wrap_pyfunction!(c_device::prepare_import, module)?,
        wrap_pyfunction!(c_device::finish_import, module)?,
        wrap_pyfunction!(c_device::class_changed, module)?,
        wrap_pyfunction!(addresses::expose_address, module)?,
        wrap_pyfunction!(addresses::watch_addresses, module)?,
        wrap_pyfunction!(numba::in_primary_context, module)?,
        wrap_pyfunction!(numba::allocate, module)?,
        wrap_pyfunction!(numba::allocation_of, module)?,
        wrap_pyfunction!(pickling::any_is_on_device, module)?,
        wrap_pyfunction!(pickling::array_skeleton, module)?,
        wrap_pyfunction!(pickling::assemble, module)?,
        wrap_pyfunction!(pickling::lend, module)?,
        wrap_pyfunction!(pickling::new_packed_buffer, module)?,
        wrap_pyfunction!(pickling::read_only, module)?,
        wrap_pyfunction!(pickling::uuid, module)?,
        wrap_pyfunction!(pointers::host_address, module)?,
    ] {
        names.private(&function)?;
    }
    Ok(())
}
