//! Streams that a test keeps busy for as long as it wants.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use super::{Handle, OK, cuLaunchHostFunc};

/// After this time a stream ends the process, so that a wrong wait fails and does not hang.
const LIMIT: Duration = Duration::from_secs(20);
/// Enough for a call that does not wait to return first.
const SOON: Duration = Duration::from_millis(20);

/// Keeps a stream busy until it is dropped.
pub struct Busy {
    _release: Sender<()>,
}

/// A release that happens by itself.
pub struct Release(Arc<AtomicBool>);

pub fn busy(stream: Handle) -> Busy {
    extern "C" fn wait(data: *mut c_void) {
        // SAFETY: the box that `busy` made, which nobody else uses.
        let released = unsafe { Box::from_raw(data.cast::<Receiver<()>>()) };
        // A panic here ends the process.
        assert_eq!(
            released.recv_timeout(LIMIT),
            Err(RecvTimeoutError::Disconnected),
            "a wrong wait"
        );
    }
    let (release, released) = channel::<()>();
    let data = Box::into_raw(Box::new(released)).cast();
    assert_eq!(cuLaunchHostFunc(stream, wait, data), OK);
    Busy { _release: release }
}

impl Busy {
    pub fn release(self) {}

    /// Releases the stream while the caller waits for it.
    pub fn release_soon(self) -> Release {
        let released = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&released);
        thread::spawn(move || {
            thread::sleep(SOON);
            released.store(true, Ordering::Relaxed);
            drop(self);
        });
        Release(seen)
    }
}

impl Release {
    pub fn has_happened(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
