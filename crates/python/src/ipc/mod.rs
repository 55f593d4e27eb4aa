//! Device memory between processes, and record batches as messages in it.

pub(crate) mod handle;
mod record_batches;
mod schema_mismatch;

use crate::registration::{PYARROW, public};
use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<handle::PyIpcMemHandle>()?;
    public!(
        module,
        PYARROW,
        record_batches::serialize_record_batch,
        record_batches::read_message,
        record_batches::read_record_batch,
    )
}
