//! Functions of pyarrow's that read their data on the host.
//!
//! They crash, or give wrong answers, for data in device memory.  The package replaces them by
//! guards, which call them as they are unless an argument lies on a device.  What happens then says
//! a table in Python: `pyarrow_cuda_compat/_pyarrow/guards/table.py`.

mod assertions;
mod construction;
mod counts;
mod guard;
mod holders;
mod presence;
mod shortcut;

use crate::registration::{Registration, functions};
use pyo3::prelude::*;

pub(crate) fn register(registration: &Registration<'_, '_>) -> PyResult<()> {
    registration.private(functions!(
        registration,
        presence::may_be_on_device,
        assertions::guard_assertion,
        counts::count_nulls,
        construction::guard_construction,
    ))?;
    let module = registration.module();
    module.setattr("_Guard", guard::guards(module.py())?)
}
