//! Reports failed releases, which no exception can carry.

use super::gil::{with_exception_kept, with_gil};
use arrow_cuda_driver::CudaError;
use pyo3::exceptions::PyOSError;
use std::cell::Cell;

thread_local! {
    /// How many reports led to what this thread does: the hook, told of the first one, used the package,
    /// which led to the second, and so on.
    static LED_BY: Cell<u32> = const { Cell::new(0) };
}

/// A hook that itself makes the same release fail would be told of it for ever.
const MOST: u32 = 4;

/// Tells `sys.unraisablehook` of a release that failed; standard error, if the hook's own work fails
/// again and again.
pub(super) fn report(what: &str, error: &CudaError) {
    let text = format!("releasing {what} failed: {error}");
    let led_by = LED_BY.get();
    if led_by >= MOST {
        eprintln!("{text}");
        return;
    }
    with_gil(Box::new(move |py| {
        with_exception_kept(py, || {
            let before = LED_BY.replace(led_by + 1);
            PyOSError::new_err(text).write_unraisable(py, None);
            LED_BY.set(before);
        });
    }));
}
