//! Waiting for another thread's progress.

use std::hint::spin_loop;
use std::thread;

/// Spins about as long as another thread needs for a piece, which takes less time than a wake-up;
/// then yields, since there may be fewer cores than threads.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    waited: u32,
}

/// About 25 microseconds.
const MAX_SPINS: u32 = 500;

impl Backoff {
    pub(super) fn wait(&mut self) {
        if self.waited < MAX_SPINS {
            self.waited += 1;
            spin_loop();
        } else {
            thread::yield_now();
        }
    }
}
