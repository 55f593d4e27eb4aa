//! Tells whether the process may call the driver.  It may not in a forked child, and destructors may not while the
//! process exits.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

static FORKED: AtomicBool = AtomicBool::new(false);
static EXITING: AtomicBool = AtomicBool::new(false);

/// Whether this process was forked from one that had loaded the driver.  CUDA does not survive
/// a fork: in the child, every function in [`sys`](crate::sys) returns
/// `CUDA_ERROR_NOT_INITIALIZED`.
pub fn is_forked_child() -> bool {
    FORKED.load(Ordering::Relaxed)
}

/// Announces that the process is about to exit.  Destructors release nothing from then on: the
/// driver's own exit handler frees everything, and may have run already.
pub fn begin_exit() {
    EXITING.store(true, Ordering::SeqCst);
}

/// Whether the process is about to exit.
pub fn is_exiting() -> bool {
    EXITING.load(Ordering::Relaxed)
}

/// Whether a destructor may still call the driver.
pub fn may_release() -> bool {
    !is_exiting() && !is_forked_child()
}

/// Notices forks from now on.  The loader calls it with the driver: an earlier fork is harmless.
pub(crate) fn watch_forks() {
    extern "C" fn in_child() {
        FORKED.store(true, Ordering::Relaxed);
    }
    static WATCH: Once = Once::new();
    WATCH.call_once(|| {
        // SAFETY: the handler only stores to an atomic, which is safe between fork and exec.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    });
}
