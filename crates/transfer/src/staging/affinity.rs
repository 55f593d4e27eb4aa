//! Keeps threads and memory at home.

use super::machine::{Cpus, Home, MOST_CPUS};
use std::thread;

const BITS: usize = u64::BITS as usize;
const NONE: [u64; MOST_CPUS / BITS] = [0; MOST_CPUS / BITS];

/// The processors that the calling thread may run on; empty if the system does not tell.
pub(super) fn allowed() -> Cpus {
    let mut mask = NONE;
    // SAFETY: stores at most as many bytes as the mask has.
    unsafe { libc::sched_getaffinity(0, size_of_val(&mask), mask.as_mut_ptr().cast()) };
    (0..MOST_CPUS).filter(|cpu| mask[cpu / BITS] >> (cpu % BITS) & 1 == 1).collect()
}

impl Home {
    /// Keeps the calling thread here, on processors that it may run on already.  If it may run on none of
    /// them, or the system refuses, nothing changes.
    pub(super) fn stay(&self) {
        let mut mask = NONE;
        for cpu in allowed().intersection(&self.cpus) {
            mask[cpu / BITS] |= 1 << (cpu % BITS);
        }
        // SAFETY: reads the mask; the system refuses an empty one.
        unsafe { libc::sched_setaffinity(0, size_of_val(&mask), mask.as_ptr().cast()) };
    }

    /// Has new memory touched from here, so that it lies here.
    ///
    /// `mbind` would need no thread for it, but containers often refuse it; an affinity they allow.
    pub(super) fn touch(&self, touch: impl Fn() + Sync) {
        let from_here = || {
            self.stay();
            touch(); // its threads inherit the affinity
        };
        let is_touched = !self.cpus.is_empty()
            && thread::scope(|scope| thread::Builder::new().spawn_scoped(scope, from_here).is_ok());
        if !is_touched {
            touch();
        }
    }
}
