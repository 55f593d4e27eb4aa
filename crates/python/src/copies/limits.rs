//! The limits of staged copies, as Python sets them.

use crate::errors::non_negative;
use arrow_cuda_transfer::{MAX_THREADS, TransferLimits};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Return the limits for copies of pageable host memory.
///
/// Several threads make large copies through pinned memory, several times as fast as
/// the driver alone.  Pinned memory and small copies do not need them.
///
/// Returns
/// -------
/// dict of str to int
///     For each device (`set_transfer_limits` says what several of them share):
///
///     * ``threads``: how many threads copy; with 0 the driver makes all copies.
///     * ``pinned_bytes``: the most pinned memory that they use.
///     * ``begin_after``: how many bytes the driver copies first, because pinning memory
///       and starting threads takes as long as copying that many bytes.
///
/// Examples
/// --------
/// >>> set_transfer_limits(threads=2)
/// >>> transfer_limits()
/// {'threads': 2, 'pinned_bytes': 33554432, 'begin_after': 0}
/// >>> set_transfer_limits()
#[pyfunction]
pub(crate) fn transfer_limits(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let limits = arrow_cuda_transfer::transfer_limits();
    let dict = PyDict::new(py);
    dict.set_item("threads", limits.threads)?;
    dict.set_item("pinned_bytes", limits.pinned_bytes)?;
    dict.set_item("begin_after", limits.begin_after)?;
    Ok(dict)
}

/// Set the limits for copies of pageable host memory, from the next copy on.
///
/// They are for each device.  Devices of one NUMA node share threads: all of them together
/// have at most three quarters of the node's cores, or `threads` if that is more.
///
/// Parameters
/// ----------
/// threads : int, optional
///     How many threads make large copies.  With 0 the driver makes all of them, and the
///     package stops its threads and releases their pinned memory, once the device has
///     completed its work.  The default depends on the cores that the process may use at
///     this call; it is 0 with fewer than 4.
/// pinned_bytes : int, optional
///     The most pinned memory that they use, for each device; by default enough to keep
///     them busy.  More than four devices have less each, so that all of them together use
///     at most four times as much.
/// begin_after : int, optional
///     How many bytes the driver copies before the threads start; by default 16 MiB, or
///     0 if `threads` is given.
///
/// Raises
/// ------
/// ValueError
///     If an argument is negative, or `threads` is more than 256.
///
/// Examples
/// --------
/// >>> set_transfer_limits(threads=0)  # the driver alone
/// >>> set_transfer_limits()  # what suits the machine
#[pyfunction(signature = (*, threads=None, pinned_bytes=None, begin_after=None))]
pub(crate) fn set_transfer_limits(
    py: Python<'_>,
    threads: Option<i64>,
    pinned_bytes: Option<i64>,
    begin_after: Option<i64>,
) -> PyResult<()> {
    let checked =
        |name, value: Option<i64>| value.map(|value| non_negative(name, value)).transpose();
    let mut limits = match checked("threads", threads)? {
        None => TransferLimits::of_this_machine(),
        Some(threads) if threads > MAX_THREADS => {
            let text = format!("threads argument must be at most {MAX_THREADS}, not {threads}");
            return Err(PyValueError::new_err(text));
        }
        Some(threads) => TransferLimits::with_threads(threads),
    };
    limits.pinned_bytes = checked("pinned_bytes", pinned_bytes)?.unwrap_or(limits.pinned_bytes);
    limits.begin_after = checked("begin_after", begin_after)?.unwrap_or(limits.begin_after);
    // It waits for a copy that uses the threads.
    py.detach(|| arrow_cuda_transfer::set_transfer_limits(limits));
    Ok(())
}
