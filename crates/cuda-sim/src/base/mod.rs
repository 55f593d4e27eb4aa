//! Parts that every other module may use: result codes, handles, locks, and the operating system.

pub mod code;
mod handles;
mod mapping;
mod pinning;

pub use handles::{Handle, Handles};
pub use mapping::{Mapping, READ_WRITE, map, unmap};
pub use pinning::can_be_pinned;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use code::{OPERATING_SYSTEM, Result};

/// Locks `mutex`, poisoned or not: a call that panicked has returned an error, and what it held
/// is still consistent.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

static FORKED: AtomicBool = AtomicBool::new(false);

/// True in a forked child.  Takes no lock, because a thread that the child lacks may hold it.
pub fn is_forked() -> bool {
    FORKED.load(Ordering::Relaxed)
}

/// Makes [`is_forked`] true in each process that is forked off from now on.
pub fn watch_forks() -> Result {
    extern "C" fn in_child() {
        FORKED.store(true, Ordering::Relaxed);
    }
    // SAFETY: the handler only stores to an atomic, and the library is never unloaded.
    match unsafe { libc::pthread_atfork(None, None, Some(in_child)) } {
        0 => Ok(()),
        _ => Err(OPERATING_SYSTEM),
    }
}
