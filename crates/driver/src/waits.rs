//! Debug builds check that no thread waits for a device under a lock that the device's work may need.
//!
//! A host function on a stream may need the interpreter's lock (Python's GIL).  A thread that releases memory needs
//! a [`Lock`](crate::Lock).  If a thread waited for the stream while it holds one of them, both would wait for ever.

use crate::blocking::{holds_interpreter, keeps_interpreter};
use crate::held_locks::holds_short_lock;

/// Functions that may wait for queued work, or behind another thread's call that does.
const WAITING: &[&str] = &[
    "cuCtxDestroy_v2",
    "cuCtxSynchronize",
    "cuDevicePrimaryCtxRelease_v2",
    "cuDevicePrimaryCtxReset_v2",
    "cuEventSynchronize",
    "cuIpcCloseMemHandle",
    "cuMemAlloc_v2",
    "cuMemFreeHost",
    "cuMemFree_v2",
    "cuMemHostAlloc",
    "cuMemHostUnregister",
    "cuMemcpy2D_v2",
    "cuMemcpyDtoH_v2",
    "cuMemcpyHtoD_v2",
    "cuMemcpyPeer",
    "cuModuleLoadData",
    "cuModuleUnload",
    "cuStreamSynchronize",
];

/// Functions that stall while a synchronous copy of another thread waits for its turn (seen on an H200).  Without the
/// interpreter's lock, that copy's turn may never come.
const STALLING: &[&str] = &["cuCtxRecordEvent", "cuEventCreate", "cuMemHostRegister_v2"];

/// Whether a function may wait.
pub(crate) const fn may_wait(name: &str) -> bool {
    is_in(WAITING, name)
}

/// Whether a function may stall behind another thread's copy.
pub(crate) const fn may_stall(name: &str) -> bool {
    is_in(STALLING, name)
}

const fn is_in(names: &[&str], name: &str) -> bool {
    let mut at = 0;
    while at < names.len() {
        if are_equal(names[at].as_bytes(), name.as_bytes()) {
            return true;
        }
        at += 1;
    }
    false
}

const fn are_equal(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// Ends the process if this thread must not wait: a failure that a destructor could not swallow.
pub(crate) fn check(what: &str) {
    let held = match (holds_interpreter(), holds_short_lock()) {
        (true, _) => "the interpreter's lock",
        (_, true) => "a lock for short work",
        _ => return,
    };
    abort(what, held);
}

/// Ends the process if this thread must not stall, unless what it is in has to keep the interpreter's lock.
pub(crate) fn check_stall(what: &str) {
    if holds_interpreter() && !keeps_interpreter() {
        abort(what, "the interpreter's lock");
    }
}

fn abort(what: &str, held: &str) -> ! {
    eprintln!("{what} may wait for a device, and this thread holds {held}");
    std::process::abort();
}
