//! `pyarrow.Buffer.address`, which `pyarrow_cuda_compat/_patches/addresses.py` puts in place of
//! pyarrow's own.

use crate::pyarrow::from_pyarrow::object_ref;
use crate::pyarrow::pyarrow;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// The address of a buffer; marks its device memory as exposed.
#[pyfunction(name = "_expose_address")]
pub(crate) fn expose_address(buffer: &Bound<'_, PyAny>) -> PyResult<u64> {
    let address = pyarrow(buffer.py())?.bridge.expose_address(object_ref(buffer));
    address.ok_or_else(|| PyTypeError::new_err("expected an initialised pyarrow.Buffer"))
}

/// From now on, buffers are exposed only when their address is read.
#[pyfunction(name = "_watch_addresses")]
pub(crate) fn watch_addresses() {
    arrow_cuda_bridge::watch_addresses();
}
