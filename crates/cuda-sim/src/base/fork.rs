//! Whether this process was forked off one that had initialised the driver.

use std::sync::atomic::{AtomicBool, Ordering};

use super::code::{OPERATING_SYSTEM, Result};

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
