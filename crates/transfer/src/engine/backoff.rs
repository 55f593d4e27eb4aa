//! Waiting for another thread's progress.

use super::sync::{spin_loop, thread};

/// About 5 microseconds, which many pieces take.
const SPINS: u32 = if cfg!(loom) { 0 } else { 100 };
/// About 20 microseconds more if no other thread wants the core, less time than a wake-up takes.
const YIELDS: u32 = if cfg!(loom) { 1 } else { 50 };

/// Spins, and then yields, since there may be fewer cores than threads.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    waited: u32,
}

impl Backoff {
    pub(super) fn wait(&mut self) {
        if self.waited < SPINS {
            spin_loop();
        } else {
            thread::yield_now();
        }
        self.waited = self.waited.saturating_add(1);
    }

    /// Whether it has waited for as long as a wake-up takes.
    pub(super) fn is_long(&self) -> bool {
        self.waited >= SPINS + YIELDS
    }
}
