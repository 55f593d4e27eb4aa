//! Protects graph captures of other streams from this project's calls.
//!
//! While any thread captures a stream in the global mode, a call that might wait for the device fails, and
//! invalidates the capture.  Queries, allocations and frees count as such calls.  A thread in the relaxed mode is
//! exempt, so this project calls the driver in that mode.

use crate::out_param::out_param;
use arrow_cuda_driver::{CudaResult, call, report_failure};
use std::cell::Cell;
use std::marker::PhantomData;

/// `CU_STREAM_CAPTURE_MODE_RELAXED`.
const RELAXED: i32 = 2;

thread_local! {
    /// How many of this thread's [`Relaxed`] live, and the thread's mode before the first one; none if it could not
    /// be changed.
    static STATE: Cell<(u32, Option<i32>)> = const { Cell::new((0, None)) };
}

/// Keeps the thread in the relaxed mode.  Each guard of a context holds one, so that no call can forget it.
#[derive(Debug)]
pub(super) struct Relaxed {
    /// The mode is the thread's.
    not_send: PhantomData<*const ()>,
}

impl Relaxed {
    pub(super) fn begin() -> Self {
        let (count, previous) = STATE.get();
        let previous = if count == 0 { exchange(RELAXED).ok() } else { previous };
        STATE.set((count + 1, previous));
        Self { not_send: PhantomData }
    }
}

impl Drop for Relaxed {
    fn drop(&mut self) {
        let (count, previous) = STATE.get();
        STATE.set((count - 1, previous));
        if let (1, Some(previous @ ..RELAXED)) = (count, previous) {
            // A thread that stays relaxed would disregard the captures of its own calls.
            report_failure("the thread's capture mode", exchange(previous).map(drop));
        }
    }
}

/// Sets the thread's capture mode, and returns the previous one.  Fails with drivers before CUDA 10.1, which have no
/// such mode.
fn exchange(mode: i32) -> CudaResult<i32> {
    // SAFETY: reads a number, and stores another.
    out_param(mode, |at| unsafe { call!(cuThreadExchangeStreamCaptureMode(at)) })
}

/// Fails while another stream is captured that is ordered with the legacy default stream.  Work on that would end the
/// capture, and so would a query of it; this question does not.
pub(super) fn check_default_stream() -> CudaResult<()> {
    // SAFETY: null stands for the current context's default stream; stores a number.
    let answer =
        out_param(0i32, |at| unsafe { call!(cuStreamIsCapturing(std::ptr::null_mut(), at)) });
    match answer {
        Err(error) if error.is_missing_function() => Ok(()),
        answer => answer.map(drop),
    }
}
