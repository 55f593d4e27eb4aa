//! Streams that are busy as long as a test wants.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// After this time a gate opens by itself, so that a wrong wait fails and does not hang.
const LIMIT: Duration = Duration::from_secs(20);
/// Enough for a call that does not wait to return first.
const SOON: Duration = Duration::from_millis(20);

#[derive(Default)]
struct State {
    is_open: AtomicBool,
    came_late: AtomicBool,
}

/// Keeps a stream busy until it is opened.
pub struct Gate(&'static State);

impl Gate {
    /// Has `launch` queue a function of the host, with its argument.
    pub fn queued(launch: impl FnOnce(extern "C" fn(*mut c_void), *mut c_void)) -> Self {
        extern "C" fn wait(state: *mut c_void) {
            // SAFETY: a gate's state, which is never freed.
            let state = unsafe { &*state.cast::<State>() };
            let since = Instant::now();
            while !state.is_open.load(Ordering::Acquire) {
                if since.elapsed() > LIMIT {
                    return state.came_late.store(true, Ordering::Release);
                }
                thread::sleep(Duration::from_millis(1));
            }
        }
        let state: &'static State = Box::leak(Box::default());
        launch(wait, (&raw const *state).cast_mut().cast());
        Self(state)
    }

    pub fn open(&self) {
        self.0.is_open.store(true, Ordering::Release);
        assert!(!self.0.came_late.load(Ordering::Acquire), "somebody waited for the stream");
    }

    /// Opens it while the caller waits for the stream.
    pub fn open_soon(self) -> JoinHandle<()> {
        self.open_after(SOON)
    }

    pub fn open_after(self, time: Duration) -> JoinHandle<()> {
        thread::spawn(move || {
            thread::sleep(time);
            self.open();
        })
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        match thread::panicking() {
            true => self.0.is_open.store(true, Ordering::Release),
            false => self.open(),
        }
    }
}
