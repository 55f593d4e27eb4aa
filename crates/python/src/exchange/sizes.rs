//! Sizes of buffers: `pyarrow_cuda_compat/_methods/sizes.py`.

use crate::errors::expected;
use crate::pyarrow::from_pyarrow::span;
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::collections::HashSet;

/// The bytes of `pyarrow.Buffer`s, of which those at the same address count once.  Other libraries do not see the
/// addresses.
#[pyfunction(name = "_total_size")]
pub(crate) fn total_size(buffers: &Bound<'_, PyList>) -> PyResult<i64> {
    let mut seen = HashSet::new();
    let mut total = 0;
    for buffer in buffers {
        let span = span(&buffer).ok_or_else(|| expected("Buffer", &buffer))?;
        if seen.insert(span.address) {
            total += span.size;
        }
    }
    Ok(total)
}
