//! Decides how to copy a given size.  Pure arithmetic.

use super::job::Task;
use std::num::NonZero;
use std::thread::available_parallelism;

/// The resources that copies of pageable host memory may use, on each device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferLimits {
    /// Worker threads that fill and empty staging slots, at most [`MAX_THREADS`]; with 0 the
    /// driver makes all copies.
    pub threads: usize,
    /// The limit of pinned memory for staging slots, in bytes.
    pub pinned_bytes: usize,
    /// Bytes that the driver copies first.  Pinning memory and starting threads takes about as long
    /// as these copies, so a program that copies less does not pay for them.
    pub begin_after: usize,
}

/// The upper limit of threads: no link needs more.
pub const MAX_THREADS: usize = 256;

/// How a copy is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// By the driver.
    Direct,
    /// Piece by piece through staging slots, by this many worker threads.
    Staged { threads: usize, piece: usize },
}

/// A smaller copy does not wait for another one that uses the threads: the driver is faster.
pub(super) const MIN_WAITING: usize = 8 << 20;
/// Sleeping threads are not woken for less: the driver is faster.
pub(super) const MIN_WAKING: usize = 1 << 20;
/// The driver is as fast for fewer bytes (measured on an H200 with 16 cores).
const SMALLEST_COPY: usize = 256 << 10;
/// A comparison by the driver needs a copy in extra memory, so staging pays off earlier.
const SMALLEST_COMPARISON: usize = 64 << 10;
/// The piece size of large copies: larger ones are not faster, and smaller ones cost more calls.
const LARGEST_PIECE: usize = 2 << 20;
/// Passing a smaller piece between threads costs more than it saves.
const SMALLEST_PIECE: usize = 64 << 10;
/// The bytes that justify one more thread.
const BYTES_PER_THREAD: usize = 128 << 10;
/// For each thread one slot that it fills and one that the device moves, up to [`MAX_SLOTS`].
const SLOTS_PER_THREAD: usize = 2;
const MAX_SLOTS: usize = 16;

impl TransferLimits {
    /// The default for this machine.
    pub fn of_this_machine() -> Self {
        Self::for_cores(available_parallelism().map_or(1, NonZero::get))
    }

    /// Eight threads saturate the link, more help with fresh memory, and the program needs some of
    /// the cores itself.  With few cores the driver alone is as fast.
    fn for_cores(cores: usize) -> Self {
        let threads = if cores < 4 { 0 } else { (cores * 3 / 4).min(12) };
        Self { begin_after: 128 << 20, ..Self::with_threads(threads) }
    }

    /// `threads` worker threads from the first copy on, with enough pinned memory to keep them
    /// busy.
    pub fn with_threads(threads: usize) -> Self {
        let threads = threads.min(MAX_THREADS);
        let pinned_bytes = slots(threads) * LARGEST_PIECE;
        Self { threads, pinned_bytes, begin_after: 0 }
    }

    /// The number and size of the ring's slots; `None` if the limits are too low for one.
    pub(super) fn ring(&self) -> Option<(usize, usize)> {
        let slots = slots(self.threads);
        let slot = self.pinned_bytes.checked_div(slots)?.min(LARGEST_PIECE) / PAGE * PAGE;
        (slot >= SMALLEST_PIECE).then_some((slots, slot))
    }

    /// The plan for a task on `size` bytes of pageable host memory.
    pub(super) fn plan(&self, task: Task, size: usize) -> Plan {
        let smallest = if task == Task::Compare { SMALLEST_COMPARISON } else { SMALLEST_COPY };
        let Some((slots, slot)) = self.ring().filter(|_| size >= smallest) else {
            return Plan::Direct;
        };
        // If all pieces fit, no slot is used twice; otherwise a piece is as large as its slot.
        let piece = size.div_ceil(slots).next_multiple_of(PAGE).clamp(SMALLEST_PIECE, slot);
        Plan::Staged { threads: self.threads.min(size.div_ceil(BYTES_PER_THREAD)), piece }
    }
}

fn slots(threads: usize) -> usize {
    threads.saturating_mul(SLOTS_PER_THREAD).min(MAX_SLOTS)
}

const PAGE: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_driver_copies_small_sizes_and_on_small_machines() {
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
