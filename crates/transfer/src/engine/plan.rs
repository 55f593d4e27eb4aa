//! How a copy of a given size is made.  Pure arithmetic.

use super::job::Task;
use std::num::NonZero;
use std::thread::available_parallelism;

/// What copies of ordinary host memory may use, on each device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferLimits {
    /// Threads that fill and empty pinned memory, at most [`MOST_THREADS`]; with 0 the driver makes
    /// all copies.
    pub threads: usize,
    /// The most pinned memory that is kept for copies, in bytes.
    pub pinned_bytes: usize,
    /// Bytes that the driver copies first.  To pin memory and to start threads takes as long, and
    /// a program that copies less need not pay for them.
    pub begin_after: usize,
}

/// More threads are never started: no link needs them.
pub const MOST_THREADS: usize = 256;

/// How a copy is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// By the driver.
    Direct,
    /// Piece by piece through pinned memory, with the help of so many threads.
    Staged { threads: usize, piece: usize },
}

/// Less does not wait for another copy that uses the threads: the driver is done by then.
pub(super) const WORTH_WAITING: usize = 8 << 20;
/// Threads that sleep are not woken for less: the driver is done by then.
pub(super) const WORTH_WAKING: usize = 1 << 20;
/// Measured on an H200 with 16 cores: copies of fewer bytes are as fast by the driver anyway.
const SMALLEST_COPY: usize = 256 << 10;
/// For a comparison the driver's copy has to go through memory of its own.
const SMALLEST_COMPARISON: usize = 64 << 10;
/// Pieces of a large copy: larger ones are not faster, and smaller ones cost more calls.
const LARGEST_PIECE: usize = 2 << 20;
/// Less does not pay for handing it from thread to thread.
const SMALLEST_PIECE: usize = 64 << 10;
/// What one more thread has to have to do.
const WORTH_A_THREAD: usize = 128 << 10;
/// A piece that is filled, one that the device has, for each thread, as far as that brings more.
const SLOTS_A_THREAD: usize = 2;
const MOST_SLOTS: usize = 16;

impl TransferLimits {
    /// What suits this machine.
    pub fn of_this_machine() -> Self {
        Self::for_cores(available_parallelism().map_or(1, NonZero::get))
    }

    /// Eight threads saturate the link, more are for memory that nobody has touched yet, and the
    /// program has other use for some of the cores.  With few of them the driver's own way is as
    /// fast.
    fn for_cores(cores: usize) -> Self {
        let threads = if cores < 4 { 0 } else { (cores * 3 / 4).min(12) };
        Self { begin_after: 128 << 20, ..Self::with_threads(threads) }
    }

    /// So many threads, with the pinned memory that keeps them busy, from the first copy on.
    pub fn with_threads(threads: usize) -> Self {
        let threads = threads.min(MOST_THREADS);
        let pinned_bytes = slots(threads) * LARGEST_PIECE;
        Self { threads, pinned_bytes, begin_after: 0 }
    }

    /// How many slots the ring has, and the size of each; none where that is too little for one.
    pub(super) fn ring(&self) -> Option<(usize, usize)> {
        let slots = slots(self.threads);
        let slot = self.pinned_bytes.checked_div(slots)?.min(LARGEST_PIECE) / PAGE * PAGE;
        (slot >= SMALLEST_PIECE).then_some((slots, slot))
    }

    /// The plan for a task with so many bytes of ordinary host memory.
    pub(super) fn plan(&self, task: Task, size: usize) -> Plan {
        let smallest = if task == Task::Compare { SMALLEST_COMPARISON } else { SMALLEST_COPY };
        let Some((slots, slot)) = self.ring().filter(|_| size >= smallest) else {
            return Plan::Direct;
        };
        // Where they all fit, no slot is used twice; else a piece is as large as its slot.
        let piece = size.div_ceil(slots).next_multiple_of(PAGE).clamp(SMALLEST_PIECE, slot);
        Plan::Staged { threads: self.threads.min(size.div_ceil(WORTH_A_THREAD)), piece }
    }
}

fn slots(threads: usize) -> usize {
    threads.saturating_mul(SLOTS_A_THREAD).min(MOST_SLOTS)
}

const PAGE: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_copies_and_small_machines_are_the_drivers() {
        let limits = TransferLimits::for_cores(16);
        assert_eq!((limits.threads, limits.pinned_bytes), (12, 32 << 20));
        assert_eq!(limits.plan(Task::Upload, SMALLEST_COPY - 1), Plan::Direct);
        let staged = |threads, piece| Plan::Staged { threads, piece };
        assert_eq!(limits.plan(Task::Download, SMALLEST_COPY), staged(2, 64 << 10));
        assert_eq!(limits.plan(Task::Compare, SMALLEST_COMPARISON), staged(1, 64 << 10));
        assert_eq!(limits.plan(Task::Upload, 1 << 30), staged(12, 2 << 20));
        assert_eq!(TransferLimits::for_cores(2).plan(Task::Upload, 1 << 30), Plan::Direct);
        let nothing_pinned = TransferLimits { pinned_bytes: 4096, ..limits };
        assert_eq!(nothing_pinned.plan(Task::Download, 1 << 30), Plan::Direct);
    }

    proptest! {
        #[test]
        fn a_piece_fits_into_its_slot(
            threads in 0..64usize, pinned_bytes in 0..1usize << 32, size in 1..1usize << 40,
        ) {
            let limits = TransferLimits { threads, pinned_bytes, begin_after: 0 };
            if let Plan::Staged { threads: helpers, piece } = limits.plan(Task::Upload, size) {
                let (slots, slot) = limits.ring().expect("there is pinned memory");
                prop_assert!(piece <= slot && slots * slot <= pinned_bytes);
                prop_assert!(piece == slot || size.div_ceil(piece) <= slots);
                prop_assert!((1..=threads).contains(&helpers));
            }
        }
    }
}
