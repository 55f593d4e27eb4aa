//! Streams that are captured into graphs.

#![allow(clippy::disallowed_macros, reason = "sets up what the crate must not do itself")]
#![allow(dead_code, reason = "each of the test files uses some of it")]

use arrow_cuda_context::Stream;
use arrow_cuda_driver::{CudaResult, call};
use std::ffi::c_void;
use std::thread;

pub const GLOBAL: i32 = 0;
pub const THREAD_LOCAL: i32 = 1;
pub const RELAXED: i32 = 2;

pub fn begin(stream: &Stream, mode: i32) {
    let _current = stream.context().enter().expect("alive");
    // SAFETY: a live stream.
    unsafe { call!(cuStreamBeginCapture_v2(stream.as_raw(), mode)) }.expect("not captured yet");
}

/// The work of another thread, for which this one waits.
pub fn elsewhere(work: impl FnOnce() + Send) {
    thread::scope(|scope| scope.spawn(work).join().expect("no panic"));
}

/// Sets the calling thread's mode, and returns what it was.
pub fn exchange_mode(mut mode: i32) -> i32 {
    // SAFETY: a number that the driver reads and writes.
    unsafe { call!(cuThreadExchangeStreamCaptureMode((&raw mut mode).cast())) }.expect("a mode");
    mode
}

/// Succeeds unless something has ended the capture.
pub fn end(stream: &Stream) -> CudaResult<()> {
    let _current = stream.context().enter()?;
    let mut graph: *mut c_void = std::ptr::null_mut();
    // SAFETY: a live stream, and a place for a handle; the graph is destroyed once.
    unsafe {
        call!(cuStreamEndCapture(stream.as_raw(), (&raw mut graph).cast()))?;
        call!(cuGraphDestroy(graph))
    }
}
