//! Streams that are busy as long as a test wants, and tests that have the process to themselves.

#![allow(clippy::disallowed_macros, reason = "sets up what the crate must not do itself")]

use arrow_cuda_context::{Context, Stream, completed};
use arrow_cuda_driver::call;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// One test at a time: counts of calls, captures and what work retains are the process's.
#[allow(dead_code, reason = "for some of the test files")]
pub fn alone() -> (MutexGuard<'static, ()>, Context) {
    static ONE: Mutex<()> = Mutex::new(());
    let guard = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let context = Context::primary(0).expect("a device");
    context.synchronize().expect("alive");
    drop(completed());
    (guard, context)
}

/// Keeps a stream busy until it is opened.
pub struct Gate(&'static AtomicBool);

impl Gate {
    #[allow(dead_code, reason = "for some of the test files")]
    pub fn on_default_stream(context: &Context) -> Self {
        Self::on(&Stream::default_of(context))
    }

    pub fn on(stream: &Stream) -> Self {
        extern "C" fn wait(open: *mut c_void) {
            // SAFETY: a gate's flag, which is never freed.
            while !unsafe { &*open.cast::<AtomicBool>() }.load(Ordering::Acquire) {
                thread::sleep(Duration::from_millis(1));
            }
        }
        let open: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
        let _current = stream.context().enter().expect("alive");
        let (wait, open_at) = (wait as *mut c_void, (&raw const *open).cast_mut().cast());
        // SAFETY: a live stream, and a function that takes such an argument.
        unsafe { call!(cuLaunchHostFunc(stream.as_raw(), wait, open_at)) }
            .expect("room in the queue");
        Self(open)
    }

    pub fn open(&self) {
        self.0.store(true, Ordering::Release);
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.open();
    }
}
