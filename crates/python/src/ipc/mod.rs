//! Device memory between processes, and record batches as messages in it.

pub(crate) mod handle;
mod record_batches;

use crate::registration::{PYARROW, Registration, functions};
use pyo3::prelude::*;

pub(crate) fn register(registration: &Registration<'_, '_>) -> PyResult<()> {
    registration.class::<handle::PyIpcMemHandle>()?;
    let public = functions!(
        registration,
        record_batches::serialize_record_batch,
        record_batches::read_message,
        record_batches::read_record_batch,
    );
    registration.public(PYARROW, public)
}
