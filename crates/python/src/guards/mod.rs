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

use crate::names::Names;
use pyo3::prelude::*;
use pyo3::wrap_pyfunction;

pub(crate) fn register(names: &Names<'_, '_>) -> PyResult<()> {
    let module = names.module();
    names.private(&wrap_pyfunction!(presence::may_be_on_device, module)?)?;
    names.private(&wrap_pyfunction!(assertions::guard_assertion, module)?)?;
    names.private(&wrap_pyfunction!(counts::count_nulls, module)?)?;
    names.private(&wrap_pyfunction!(construction::guard_construction, module)?)?;
    module.setattr("_Guard", guard::guards(module.py())?)
}
