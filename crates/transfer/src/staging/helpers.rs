//! Counts the threads that help with a job.

use super::sync::{AtomicUsize, Ordering, spin_loop, thread};
use crossbeam_utils::CachePadded;

/// The helpers of one job.  Each count has a cache line of its own, to avoid false sharing.
#[derive(Debug, Default)]
pub(super) struct Helpers {
    pub(super) most: usize,
    /// They were recruited, and have not come yet.
    expected: CachePadded<AtomicUsize>,
    /// They have come, and have nothing to do at the moment.
    waiting: CachePadded<AtomicUsize>,
    /// They have come, and a bit that stops others from coming.
    present: CachePadded<AtomicUsize>,
}

const CLOSED: usize = 1 << (usize::BITS - 1);

impl Helpers {
    pub(super) fn at_most(most: usize) -> Self {
        Self { most, ..Self::default() }
    }

    /// How many have come, or will.
    pub(super) fn count(&self) -> usize {
        let present = self.present.load(Ordering::Relaxed) & !CLOSED;
        present + self.expected.load(Ordering::Relaxed)
    }

    /// How many more could begin now, when `ready` pieces are ready.
    pub(super) fn lacking(&self, ready: usize) -> usize {
        // A single piece is taken by who is done first.
        let work = if ready < 2 { 0 } else { ready };
        let soon = self.expected.load(Ordering::Relaxed) + self.waiting.load(Ordering::Relaxed);
        work.saturating_sub(soon).min(self.most.saturating_sub(self.count()))
    }

    pub(super) fn expect(&self, count: usize) {
        self.expected.fetch_add(count, Ordering::Relaxed);
    }

    pub(super) fn forget(&self, count: usize) {
        self.expected.fetch_sub(count, Ordering::Relaxed);
    }

    /// A helper that was announced works, unless the job is closed.
    pub(super) fn help(&self, work: impl FnOnce()) {
        let is_open = self.present.fetch_add(1, Ordering::AcqRel) & CLOSED == 0;
        self.forget(1);
        if is_open {
            work();
        }
        self.present.fetch_sub(1, Ordering::AcqRel);
    }

    /// A helper waits until there is `something` to do.  False if that takes long, or if there is
    /// nothing `more` to come.
    pub(super) fn wait(&self, something: impl Fn() -> bool, more: impl Fn() -> bool) -> bool {
        if something() {
            return true;
        }
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let mut backoff = Backoff::default();
        while more() && !something() && !backoff.is_long() {
            backoff.wait();
        }
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        something()
    }

    /// Lets no more helpers come, and waits until those that came have left.
    pub(super) fn close(&self) {
        self.present.fetch_or(CLOSED, Ordering::AcqRel);
        // They are at their last pieces, which take less time than going to sleep.
        let mut backoff = Backoff::default();
        while self.present.load(Ordering::Acquire) != CLOSED {
            backoff.wait();
        }
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_are_lacking_as_there_are_pieces_for() {
        let helpers = Helpers::at_most(3);
        assert_eq!([0, 1, 2, 9].map(|ready| helpers.lacking(ready)), [0, 0, 2, 3]);
        helpers.expect(2);
        assert_eq!([2, 3, 9].map(|ready| helpers.lacking(ready)), [0, 1, 1]);
        helpers.forget(1);
        helpers.help(|| assert_eq!((helpers.count(), helpers.lacking(9)), (1, 2)));
        assert_eq!(helpers.lacking(9), 3);
    }

    #[test]
    fn those_that_wait_need_no_help() {
        let helpers = Helpers::at_most(3);
        let is_waiting = || {
            assert_eq!(helpers.lacking(2), 1);
            true
        };
        assert!(!helpers.wait(|| false, || !is_waiting()));
        assert!(helpers.wait(|| true, || false));
    }

    #[test]
    fn nobody_works_once_a_job_is_closed() {
        let helpers = Helpers::at_most(3);
        helpers.close();
        helpers.expect(1);
        helpers.help(|| panic!("it is closed"));
    }
}
