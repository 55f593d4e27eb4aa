//! Device buffers as files, and copies between files and device buffers.

mod host_file;
pub(crate) mod reader;
mod regular_file;
mod tables;
pub(crate) mod writer;

use crate::registration::private;
use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    private!(
        module,
        regular_file::descriptor,
        regular_file::open_flags,
        host_file::copy_from_file,
        host_file::copy_ranges_from_file,
        host_file::copy_to_file,
        host_file::is_cached,
        host_file::reading_options,
        tables::table_of,
    )
}
