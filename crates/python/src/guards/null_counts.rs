//! Counts the nulls of data on a device. libarrow itself would read the bitmaps as host memory.

use crate::errors::OrRaise;
use crate::pyarrow::from_pyarrow::object_ref;
use crate::pyarrow::pyarrow;
use pyo3::prelude::*;

/// Counts the nulls of an array, or of the columns of a record batch, which nobody has counted.  The
/// counts are stored where libarrow looks for them.
#[pyfunction(name = "_count_nulls")]
pub(crate) fn count_nulls(object: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = object.py();
    pyarrow(py)?.bridge.count_nulls(object_ref(object)).or_raise(py)
}
