//! Exchange of data with other libraries: DLPack, the CUDA array interface, the C Device interface, Numba, pickles.

pub(crate) mod array_interface;
pub(crate) mod asarray;
mod buffer_address;
mod c_device;
mod columns;
mod copy_to;
mod device_streams;
pub(crate) mod dlpack;
pub(crate) mod dtype;
pub(crate) mod foreign_memory;
pub(crate) mod lazy_tensors;
mod numba;
mod pickling;
mod pointers;
mod read_ahead;
mod sizes;

use crate::pyarrow::from_pyarrow::check_has_arrays;
use crate::registration::private;
use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    private!(
        module,
        c_device::make_ready,
        c_device::order_current_stream,
        c_device::finish_export,
        c_device::export_places,
        c_device::prepare,
        columns::memory_of,
        columns::table_over_memory,
        foreign_memory::view_memory,
        lazy_tensors::check_resolved_owner,
        copy_to::combine,
        copy_to::copy_slice,
        copy_to::copy_to,
        copy_to::destination_of,
        sizes::total_size,
        copy_to::buffer_to,
        copy_to::placed,
        check_has_arrays,
        device_streams::export_stream,
        device_streams::import_stream,
        device_streams::import_chunks,
        c_device::prepare_import,
        c_device::finish_import,
        c_device::class_changed,
        buffer_address::expose_address,
        buffer_address::watch_addresses,
        numba::in_context,
        numba::allocation_of,
        pickling::any_is_on_device,
        pickling::skeleton,
        pickling::assemble,
        pickling::lend,
        pickling::new_packed_buffer,
        pickling::read_only,
        pickling::uuid,
        pointers::host_address,
        read_ahead::read_ahead,
        read_ahead::run_ahead,
        read_ahead::copy_ahead,
    )
}
