//! Guards for the functions of pyarrow that read their data in host memory.
//!
//! Such a function crashes, or gives wrong answers, for data in device memory.  Its guard has it called with the same
//! arguments unless one of them contains data on a device.  The table in `pyarrow_cuda_compat/_patches/guards/table.py`
//! says what happens then.
//!
//! Unsafe code: `guard`, `functions` and `guarded_functions` speak Python's vectorcall protocol; `functions`,
//! `properties`, `construction`, `operators` and `assertions` write the pointers by which Python or Cython calls;
//! `may_contain` asks for slots and flags of types.

mod assertions;
mod computing;
mod construction;
mod cpython_slots;
mod functions;
mod guard;
mod guarded_functions;
mod may_contain;
mod null_counts;
mod operators;
mod properties;
mod refusal;
mod walk;

use crate::registration::private;
use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    private!(
        module,
        walk::map_device_data,
        refusal::refuse,
        assertions::guard_assertion,
        computing::computing,
        computing::computing_in,
        computing::here,
        computing::set_has_engine,
        null_counts::count_nulls,
        construction::guard_construction,
        operators::guard_operators,
        guarded_functions::guard_function,
        functions::unguarded,
        properties::guard_property,
    )?;
    module.setattr("_Guard", module.py().get_type::<guard::Guard>())
}
