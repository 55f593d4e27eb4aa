//! Waiting for another thread's progress.

use std::hint::spin_loop;
use std::thread;

/// About 25 microseconds.
const MAX_SPINS: u32 = 500;

/// Spins about as long as another thread needs for a piece, which takes less time than a wake-up;
/// then yields, since there may be fewer cores than threads.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    patience: Patience,
}

impl Backoff {
    pub(super) fn wait(&mut self) {
        if !self.patience.wait() {
            thread::yield_now();
        }
    }
}

/// Spins about as long as another thread needs for a piece.
#[derive(Debug, Default)]
pub(super) struct Patience {
    waited: u32,
}

impl Patience {
    /// False when it is over.
    pub(super) fn wait(&mut self) -> bool {
        if self.waited == MAX_SPINS {
            return false;
        }
        self.waited += 1;
        spin_loop();
        true
    }
}
