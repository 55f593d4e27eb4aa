//! Device memory between processes, and record batches as messages in it.

pub(crate) mod handle;
mod record_batches;

use crate::names::{Names, PYARROW};
use pyo3::prelude::*;
use pyo3::wrap_pyfunction;

pub(crate) fn register(names: &Names<'_, '_>) -> PyResult<()> {
    let module = names.module();
    names.class::<handle::PyIpcMemHandle>()?;
    names.function(wrap_pyfunction!(record_batches::serialize_record_batch, module)?, PYARROW)?;
    names.function(wrap_pyfunction!(record_batches::read_message, module)?, PYARROW)?;
    names.function(wrap_pyfunction!(record_batches::read_record_batch, module)?, PYARROW)
}
