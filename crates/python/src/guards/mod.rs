//! Guards: callables in place of pyarrow functions that read their data in host memory.
//!
//! Such a function crashes, or gives wrong answers, for data in device memory.  Its guard calls it with the same
//! arguments unless one of them contains data on a device.  The table in `pyarrow_cuda_compat/_pyarrow/guards/table.py`
//! says what the guard does then.
//!
//! Unsafe code: `guard` and `vectorcall` speak Python's vectorcall protocol, `construction` writes slots of types,
//! `assertions` writes an entry of a Cython vtable, and `may_contain` asks for slots and flags of types.

mod assertions;
mod construction;
mod guard;
mod may_contain;
mod null_counts;
mod refusal;
mod vectorcall;
mod walk;

use crate::registration::private;
use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    private!(
        module,
        walk::map_device_data,
        refusal::refuse,
        assertions::guard_assertion,
        null_counts::count_nulls,
        construction::construct_by,
    )?;
    module.setattr("_Guard", guard::class(module.py())?)
}
