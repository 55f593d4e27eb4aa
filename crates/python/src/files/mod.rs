//! Device buffers as files, and files on their way to device buffers and back.

mod host_file;
pub(crate) mod reader;
mod source;
pub(crate) mod writer;

pub(crate) use host_file::check_progress;

use crate::names::Names;
use pyo3::prelude::*;
use pyo3::wrap_pyfunction;

pub(crate) fn register(names: &Names<'_, '_>) -> PyResult<()> {
    let module = names.module();
    names.private(&wrap_pyfunction!(source::descriptor, module)?)?;
    names.private(&wrap_pyfunction!(source::open_flags, module)?)?;
    names.private(&wrap_pyfunction!(host_file::copy_from_file, module)?)?;
    names.private(&wrap_pyfunction!(host_file::copy_to_file, module)?)?;
    names.private(&wrap_pyfunction!(host_file::is_cached, module)?)
}
