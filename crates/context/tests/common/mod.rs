//! Streams that are busy as long as a test wants, contexts of others, and tests that have the process
//! to themselves.

#![allow(clippy::disallowed_macros, reason = "sets up what the crate must not do itself")]
#![allow(dead_code, reason = "each of the test files uses some of it")]

#[path = "../../../cuda-sim/tests/driver/common/gate.rs"]
mod gate;

use arrow_cuda_context::{Context, Device, Extension, Stream, completed};
use arrow_cuda_driver::{CudaError, call, is_simulated};
pub use gate::Gate;
use std::ffi::c_void;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// One test at a time: counts of calls, captures and what work retains are the process's.
pub fn alone() -> (MutexGuard<'static, ()>, Context) {
    static ONE: Mutex<()> = Mutex::new(());
    let guard = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let context = Context::primary(0).expect("a device");
    context.synchronize().expect("alive");
    drop(completed());
    (guard, context)
}

/// Alone, on a driver whose calls can be made to fail.
pub fn alone_with_simulator() -> Option<(MutexGuard<'static, ()>, Context)> {
    is_simulated().expect("a driver").then(alone)
}

/// The context of a second device, which some machines have: the simulator with `CUDA_SIM_DEVICES=2`.
pub fn second_device() -> Option<Context> {
    if Device::count().expect("a driver") < 2 {
        eprintln!("there is one device only");
        return None;
    }
    Some(Context::primary(1).expect("a device"))
}

/// Bytes that differ from their neighbours.
pub fn pattern(size: usize) -> Vec<u8> {
    (0..size).map(|at| (at * 31 + at / 251) as u8).collect()
}

/// A context beside the primary one, as another library makes it, and its handle.
pub fn their_context() -> (Context, *mut c_void) {
    let mut handle: *mut c_void = std::ptr::null_mut();
    Context::primary(0).expect("a device");
    // SAFETY: stores a handle through the pointer; the new context is current, and popped.
    unsafe {
        call!(cuCtxCreate_v2((&raw mut handle).cast(), 0, 0)).expect("a context");
        let mut popped: *mut c_void = std::ptr::null_mut();
        call!(cuCtxPopCurrent_v2((&raw mut popped).cast())).expect("the new one");
    }
    // SAFETY: made above, and destroyed by the test itself.
    (unsafe { Context::borrowed(0, handle.addr()) }.expect("alive"), handle)
}

pub fn destroy(context: *mut c_void) {
    // SAFETY: made by `their_context`, and destroyed once.
    unsafe { call!(cuCtxDestroy_v2(context)) }.expect("alive");
}

/// The handle of this thread's current context, or 0.
pub fn current_handle() -> usize {
    let mut handle: *mut c_void = std::ptr::null_mut();
    // SAFETY: stores a handle through the pointer, which outlives the call.
    unsafe { call!(cuCtxGetCurrent((&raw mut handle).cast())) }.expect("a driver");
    handle as usize
}

/// Has the context keep something, of which a share is returned: the only one once the context is forgotten.
pub fn witness(context: &Context) -> Arc<()> {
    struct Witness(Arc<()>);
    impl Extension for Witness {}
    let kept = context.extension_or(|| Ok::<_, CudaError>(Witness(Arc::default())));
    let share = Arc::clone(&kept.expect("room").0);
    assert_eq!(Arc::strong_count(&share), 2);
    share
}

impl Gate {
    pub fn on_default_stream(context: &Context) -> Self {
        Self::on(&Stream::default_of(context))
    }

    pub fn on(stream: &Stream) -> Self {
        let _current = stream.context().enter().expect("alive");
        Self::queued(|wait, state| {
            // SAFETY: a live stream, and a function that takes such an argument.
            unsafe { call!(cuLaunchHostFunc(stream.as_raw(), wait as *mut c_void, state)) }
                .expect("room in the queue");
        })
    }

    /// Works while the stream is busy.  A driver may wait for the stream before it pins memory, so the gate opens in
    /// the end.
    pub fn beside<T>(&self, work: impl FnOnce() -> T) -> T {
        let (done, is_done) = channel::<()>();
        thread::scope(|scope| {
            scope.spawn(move || {
                let waited = is_done.recv_timeout(Duration::from_secs(5));
                if waited == Err(RecvTimeoutError::Timeout) {
                    self.open();
                }
            });
            let outcome = work();
            drop(done);
            outcome
        })
    }
}
