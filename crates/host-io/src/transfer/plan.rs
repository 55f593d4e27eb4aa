//! How a copy of a given size is made.  Pure arithmetic.

use std::num::NonZero;
use std::thread::available_parallelism;

/// Which way the bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// To the device.
    Upload,
    /// To the host.
    Download,
}

/// What copies of ordinary host memory may use, on each device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferLimits {
    /// Threads that fill and empty pinned memory; with 0 the driver makes all copies.
    pub threads: usize,
    /// The most pinned memory that is kept for copies, in bytes.
    pub pinned_bytes: usize,
}

/// How a copy is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// By the driver.
    Direct,
    /// Piece by piece through pinned memory, with the help of so many threads.
    Staged { threads: usize, piece: usize },
}

/// Measured on an H200 with 16 cores: copies of fewer bytes are as fast by the driver.
const SMALLEST_UPLOAD: usize = 1 << 20;
const SMALLEST_DOWNLOAD: usize = 256 << 10;
/// Pieces of a large copy: larger ones are not faster, and smaller ones cost more calls.
const LARGEST_PIECE: usize = 2 << 20;
/// Less does not pay for the calls that move it.
const SMALLEST_PIECE: usize = 128 << 10;
/// A piece that is filled, one that the device has, for each thread.
pub(super) const SLOTS_A_THREAD: usize = 2;

impl TransferLimits {
    /// What suits this machine.
    pub fn of_this_machine() -> Self {
        Self::for_cores(available_parallelism().map_or(1, NonZero::get))
    }

    /// Eight threads saturate the link, and the program has other use for some of the cores.  With
    /// few of them the driver's own way is as fast.
    fn for_cores(cores: usize) -> Self {
        Self::with_threads(if cores < 4 { 0 } else { (cores / 2).min(8) })
    }

    /// So many threads, with the pinned memory that keeps them busy.
    pub fn with_threads(threads: usize) -> Self {
        let pinned_bytes = threads.saturating_mul(SLOTS_A_THREAD * LARGEST_PIECE);
        Self { threads, pinned_bytes }
    }

    /// How many pieces can be in pinned memory at a time, and the size of a piece at most.
    pub(super) fn ring(&self) -> Option<(usize, usize)> {
        let slots = self.threads.checked_mul(SLOTS_A_THREAD)?;
        let piece = self.pinned_bytes.checked_div(slots)?.min(LARGEST_PIECE) / PAGE * PAGE;
        (piece >= SMALLEST_PIECE).then_some((slots, piece))
    }

    /// The plan for a copy of so many bytes of ordinary host memory.
    pub(super) fn plan(&self, direction: Direction, size: usize) -> Plan {
        let smallest = match direction {
            Direction::Upload => SMALLEST_UPLOAD,
            Direction::Download => SMALLEST_DOWNLOAD,
        };
        let Some((_, largest)) = self.ring().filter(|_| size >= smallest) else {
            return Plan::Direct;
        };
        // Enough pieces that filling one hides the transfer of another.
        let piece = (size / 16).next_multiple_of(PAGE).clamp(SMALLEST_PIECE, largest);
        Plan::Staged { threads: self.threads.min(size / piece), piece }
    }
}

const PAGE: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_copies_and_small_machines_are_the_drivers() {
        let limits = TransferLimits::for_cores(16);
        assert_eq!((limits.threads, limits.pinned_bytes), (8, 32 << 20));
        assert_eq!(limits.plan(Direction::Upload, 4096), Plan::Direct);
        assert_eq!(limits.plan(Direction::Upload, SMALLEST_UPLOAD - 1), Plan::Direct);
        assert_ne!(limits.plan(Direction::Upload, SMALLEST_UPLOAD), Plan::Direct);
        assert_eq!(TransferLimits::for_cores(2).plan(Direction::Upload, 1 << 30), Plan::Direct);
        let nothing_pinned = TransferLimits { pinned_bytes: 4096, ..limits };
        assert_eq!(nothing_pinned.plan(Direction::Download, 1 << 30), Plan::Direct);
    }

    proptest! {
        #[test]
        fn a_piece_fits_into_its_slot(
            threads in 0..64usize, pinned_bytes in 0..1usize << 32, size in 0..1usize << 40,
        ) {
            let limits = TransferLimits { threads, pinned_bytes };
            if let Plan::Staged { threads: helpers, piece } = limits.plan(Direction::Upload, size) {
                let (slots, slot) = limits.ring().expect("there is pinned memory");
                prop_assert!(piece <= slot && slots * slot <= pinned_bytes);
                prop_assert!((1..=threads).contains(&helpers));
            }
        }
    }
}
