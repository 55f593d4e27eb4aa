//! A queue of work that needs the GIL, which the main thread runs.
//!
//! Python has 32 slots for pending calls, for all libraries together.  So this module has one queue, and one
//! pending call that empties it.

use arrow_cuda_driver::is_exiting;
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

/// Work that needs the GIL.
pub(super) type Task = Box<dyn FnOnce(Python<'_>) + Send>;

/// The last task that was added, which refers to the one before it.  A list without a lock: a fork may
/// happen at any time.
static LAST: AtomicPtr<Node> = AtomicPtr::new(ptr::null_mut());

struct Node {
    task: Task,
    before: *mut Node,
}

/// The process that has the call pending, or is about to; 0 if none has.  A forked child does not inherit
/// the thread that is about to.
static PENDING_IN: AtomicU32 = AtomicU32::new(0);

/// How long to wait if other libraries occupy all slots of the interpreter's queue.
const RETRY: Duration = Duration::from_millis(1);

/// Runs a task on the main thread, a little later.
pub(super) fn run_later(task: Task) {
    add(task);
    let process = std::process::id();
    if PENDING_IN.swap(process, Ordering::SeqCst) != process && !announce() {
        // Only this thread waits for a slot.
        let waits = thread::Builder::new().name("cuda-releases".to_owned()).spawn(|| {
            while !is_exiting() && !announce() {
                thread::sleep(RETRY);
            }
        });
        if waits.is_err() {
            PENDING_IN.store(0, Ordering::SeqCst); // the next task tries again
        }
    }
}

/// Has Python call [`run_all`] on the main thread.  Returns false if it has no free slot.
fn announce() -> bool {
    extern "C" fn call(_: *mut c_void) -> c_int {
        run_all();
        0
    }
    // SAFETY: may be called without the GIL.
    unsafe { ffi::Py_AddPendingCall(Some(call), ptr::null_mut()) == 0 }
}

/// Runs the tasks, oldest first.  Those that are added meanwhile have a call of their own.
fn run_all() {
    PENDING_IN.store(0, Ordering::SeqCst);
    let mut tasks = take();
    Python::attach(|py| {
        while let Some(task) = tasks.pop() {
            task(py);
        }
    });
}

fn add(task: Task) {
    let node = Box::into_raw(Box::new(Node { task, before: ptr::null_mut() }));
    let mut last = LAST.load(Ordering::Relaxed);
    loop {
        // SAFETY: nobody else knows the node yet.
        unsafe { (*node).before = last };
        match LAST.compare_exchange_weak(last, node, Ordering::SeqCst, Ordering::Relaxed) {
            Ok(_) => return,
            Err(now) => last = now,
        }
    }
}

/// All tasks, the oldest at the end.
fn take() -> Vec<Task> {
    let mut last = LAST.swap(ptr::null_mut(), Ordering::SeqCst);
    let mut tasks = Vec::new();
    while !last.is_null() {
        // SAFETY: made in `add`, and taken out of the list once, with all nodes before it.
        let node = unsafe { Box::from_raw(last) };
        last = node.before;
        tasks.push(node.task);
    }
    tasks
}
