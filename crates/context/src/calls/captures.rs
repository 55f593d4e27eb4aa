//! Graphs into which streams are captured, by this thread or by others.

use crate::Current;
use crate::stored::stored;
use arrow_cuda_driver::{CudaResult, call, report_failure};
use std::marker::PhantomData;

/// `CU_STREAM_CAPTURE_MODE_RELAXED`.
const RELAXED: i32 = 2;

/// Lets this thread make calls that captures of other streams forbid, until it is dropped.
///
/// While any thread captures a stream in the global mode, each call that might wait for the device
/// fails, and invalidates the capture.  The driver counts queries among them.
#[must_use = "captures are disregarded only while this lives"]
pub struct DisregardedCaptures {
    /// The thread's mode before; none if it could not be changed.
    previous: Option<i32>,
    /// The mode is the thread's.
    not_send: PhantomData<*const ()>,
}

impl Current<'_> {
    /// For calls that neither wait nor concern a stream that is captured.
    pub fn disregard_captures(&self) -> DisregardedCaptures {
        DisregardedCaptures { previous: exchange(RELAXED).ok(), not_send: PhantomData }
    }
}

/// Sets the thread's mode, and returns what it was.  Drivers before CUDA 10.1 have none.
fn exchange(mode: i32) -> CudaResult<i32> {
    // SAFETY: reads a number, and stores another.
    stored(mode, |at| unsafe { call!(cuThreadExchangeStreamCaptureMode(at)) })
}

impl Drop for DisregardedCaptures {
    fn drop(&mut self) {
        let Some(previous) = self.previous else { return };
        // A thread that stays relaxed would disregard the captures of its own calls.
        report_failure("the thread's capture mode", exchange(previous).map(drop));
    }
}
