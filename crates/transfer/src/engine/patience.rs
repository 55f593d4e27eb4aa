//! Waiting for another thread that is at work.

use std::hint::spin_loop;
use std::thread;

/// Spins as long as the other one needs for a piece, which takes less time than to be woken; then
/// gives way, since there may be fewer cores than threads.
#[derive(Debug, Default)]
pub(super) struct Patience {
    waited: u32,
}

/// About 25 microseconds.
const SPINS: u32 = 500;

impl Patience {
    pub(super) fn wait(&mut self) {
        if self.waited < SPINS {
            self.waited += 1;
            spin_loop();
        } else {
            thread::yield_now();
        }
    }
}
