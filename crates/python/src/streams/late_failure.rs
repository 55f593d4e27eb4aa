//! Failures of queued work, which CUDA reports to the next caller that waits or queries.

use crate::errors::OrRaise;
use arrow_cuda_driver::{CudaError, CudaResult, codes};
use pyo3::prelude::*;

/// Codes of failures of the call itself: after a fork, and in a destroyed context.
const OWN_FAILURES: [i32; 2] = [codes::NOT_INITIALIZED, codes::INVALID_CONTEXT];

/// Raises the failure of a wait or query, which may be that of earlier work.
pub(super) fn or_raise_late<T>(py: Python<'_>, outcome: CudaResult<T>) -> PyResult<T> {
    let code = outcome.as_ref().err().and_then(CudaError::code);
    outcome.or_raise(py).inspect_err(|error| {
        if code.is_none_or(|code| OWN_FAILURES.contains(&code)) {
            return;
        }
        let note = "CUDA reports failures of queued work late: work that was queued earlier in \
                    this context, on any stream, may have failed.";
        // If the note cannot be added, the error stays the same.
        let _ = error.value(py).call_method1("add_note", (note,));
    })
}
