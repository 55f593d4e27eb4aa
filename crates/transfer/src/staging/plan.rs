//! Decides how to copy a given size.  Pure arithmetic.
//!
//! The numbers were measured on an H200 with 16 cores.

/// The resources that copies of pageable host memory may use, on each device.
///
/// Devices of one NUMA node share threads: all of them together have at most three quarters of the node's
/// cores, or as many as one if that is more.  More than four devices divide the pinned memory of four.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransferLimits {
    /// Worker threads that fill and empty staging slots, at most [`MAX_THREADS`]; with 0 the
    /// driver makes all copies.
    pub threads: usize,
    /// The limit of pinned memory for staging slots, in bytes, which copies at the same time share.
    pub pinned_bytes: usize,
    /// Bytes that the driver copies first.  Pinning memory and starting threads takes about as long
    /// as these copies, so a program that copies less does not pay for them.
    pub begin_after: usize,
}

/// The upper limit of threads: no link needs more.
pub const MAX_THREADS: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// At most this many worker threads help.
    pub(super) helpers: usize,
    /// The size of a piece and its slot, in bytes.
    pub(super) piece: usize,
    pub(super) slots: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moves {
    /// One call moves at least this many pieces, unless it reaches the end of the slots or of the copy.
    pub(super) at_least: usize,
    pub(super) at_most: usize,
    /// No move begins while this many pieces are on their way.
    pub(super) in_flight: usize,
    /// Whether each piece has a slot of its own, so that the end of the last move alone matters.
    pub(super) only_last_matters: bool,
}

/// Sleeping threads are not woken for less, unless copies follow each other: waking them takes as long.
pub(super) const MIN_WAKING: usize = 1 << 20;
/// The driver is as fast for fewer bytes.
const SMALLEST_COPY: usize = 256 << 10;
/// A comparison by the driver needs a copy in extra memory, so staging pays off earlier.
const SMALLEST_COMPARISON: usize = 64 << 10;
/// The bytes that justify one more thread.
const BYTES_PER_HELPER: usize = 384 << 10;
/// With the issuer, these have one piece each of the smallest copy.
const LEAST_HELPERS: usize = 3;

/// Passing a smaller piece between threads costs more than it saves.
const SMALLEST_PIECE: usize = 64 << 10;
/// Larger pieces save no more calls.  A huge page of fresh memory is touched by one thread only.
const LARGEST_PIECE: usize = 2 << 20;
/// Other copies wait for no longer move than this; the price is more calls.
const LARGEST_PIECE_UP: usize = 1 << 20;
/// With this many pieces for each thread, all threads end at about the same time.
const PIECES_PER_THREAD: usize = 8;
const LEAST_SLOTS: usize = 16;

/// A smaller move does not justify the overhead of a call and of its start on the device.
const SMALLEST_MOVE: usize = 256 << 10;
/// Between moves the device pauses for some microseconds.
const LARGEST_MOVE: usize = 2 << 20;
/// This much keeps the device busy, while other copies need not wait for long.
const MAX_IN_FLIGHT: usize = 2 << 20;

/// Lanes and their slots are whole blocks of direct I/O.
const GRAIN: usize = 4096;
/// The pinned memory for most copies.
const SMALL_LANE: usize = 8 << 20;
const LARGE_LANE: usize = 32 << 20;
/// Half of the pinned memory is for two large lanes, one for each direction, and the other half for as many
/// small ones as copies begin at a time.
const LARGE_LANES: usize = 2;
const SMALL_LANES: usize = 8;
const MIN_LARGE: usize = 1 << 20;
/// Creating a large lane takes about as long as the lane saves in a copy of this many bytes.
const LARGE_LANE_AFTER: usize = 64 << 20;
const PINNED_PER_THREAD: usize = 16 << 20;
const MOST_PINNED: usize = 128 << 20;
/// More devices than these pin less each.
const WHOLE_SHARES: usize = 4;

impl TransferLimits {
    /// Eight threads saturate the link, more help with fresh memory, and the program needs some of
    /// the cores itself.  With few cores the driver alone is as fast.
    pub(super) fn for_cores(cores: usize) -> Self {
        let threads = if cores < 4 { 0 } else { (cores * 3 / 4).min(12) };
        Self { begin_after: 16 << 20, ..Self::with_threads(threads) }
    }

    /// `threads` worker threads from the first copy on, with enough pinned memory to keep them
    /// busy.
    pub fn with_threads(threads: usize) -> Self {
        let threads = threads.min(MAX_THREADS);
        let pinned_bytes = (threads * PINNED_PER_THREAD).min(MOST_PINNED);
        Self { threads, pinned_bytes, begin_after: 0 }
    }

    /// Whether the stager may copy anything.
    pub(super) fn allow_staging(&self) -> bool {
        self.threads > 0 && self.pinned_bytes >= SMALLEST_PIECE
    }

    /// Whether to stage a task on `size` bytes of pageable host memory.
    pub(super) fn should_stage(&self, task: Task, size: usize) -> bool {
        let smallest = if task == Task::Compare { SMALLEST_COMPARISON } else { SMALLEST_COPY };
        size >= smallest && self.allow_staging()
    }

    pub(super) fn large_lane(&self) -> usize {
        LARGE_LANE.min(self.pinned_bytes / (2 * LARGE_LANES)) / GRAIN * GRAIN
    }

    pub(super) fn small_lane(&self) -> usize {
        let parts = if self.has_large_lanes() { 2 * SMALL_LANES } else { 1 };
        SMALL_LANE.min(self.pinned_bytes / parts) / GRAIN * GRAIN
    }

    /// How much pinned memory the lanes of one size may have, on one of `devices` devices.  Where that is
    /// little, there are fewer lanes rather than smaller ones, in which two threads would touch a huge page.
    pub(super) fn pinned_for_lanes(&self, devices: usize) -> usize {
        let sizes = if self.has_large_lanes() { 2 } else { 1 };
        let share = self.pinned_bytes / sizes / devices.div_ceil(WHOLE_SHARES);
        share.max(SMALLEST_PIECE) / GRAIN * GRAIN
    }

    /// Whether a large lane pays off for a copy of `size` bytes, when `copied` bytes were copied with it.
    pub(super) fn is_worth_large_lane(&self, size: usize, copied: usize) -> bool {
        self.has_large_lanes() && size >= MIN_LARGE && copied >= LARGE_LANE_AFTER
    }

    fn has_large_lanes(&self) -> bool {
        self.large_lane() > SMALL_LANE
    }

    pub(super) fn plan(&self, task: Task, size: usize, lane: usize) -> Plan {
        let most = if task == Task::Upload { LARGEST_PIECE_UP } else { LARGEST_PIECE };
        let largest = (lane / LEAST_SLOTS / GRAIN * GRAIN).clamp(SMALLEST_PIECE, most);
        let share = size / (self.threads * PIECES_PER_THREAD);
        let piece = (share / SMALLEST_PIECE * SMALLEST_PIECE).clamp(SMALLEST_PIECE, largest);
        // One more than it has full pieces, since the first one may be smaller.
        let slots = (lane / piece).min(size.div_ceil(piece) + 1);
        let helpers = size.div_ceil(BYTES_PER_HELPER).max(LEAST_HELPERS).min(self.threads);
        Plan { helpers, piece, slots }
    }
}

impl Plan {
    pub(super) fn moves(&self, task: Task, pieces: usize) -> Moves {
        let count = |bytes: usize| bytes.div_ceil(self.piece);
        let share = |parts: usize| pieces * self.piece / parts;
        if task == Task::Upload && pieces <= self.slots {
            // No slot is used twice: all that is ready may move at once.
            let at_least = count(share(8).clamp(SMALLEST_MOVE, LARGEST_MOVE));
            let (at_most, in_flight) = (pieces, pieces);
            return Moves { at_least, at_most, in_flight, only_last_matters: true };
        }
        let moved = count(share(4).clamp(SMALLEST_MOVE, LARGEST_MOVE));
        let moved = match task {
            Task::Upload => moved.min(count(LARGEST_PIECE_UP)),
            Task::Download | Task::Compare => moved,
        };
        let moved = moved.min(self.slots.div_ceil(4));
        let in_flight = count(MAX_IN_FLIGHT).max(2 * moved);
        Moves { at_least: moved, at_most: moved, in_flight, only_last_matters: false }
    }
}

/// A kind of staged copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Host to device.
    Upload,
    /// Device to host.
    Download,
    /// The device's bytes are compared with the host's.
    Compare,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_driver_copies_small_sizes_and_on_small_machines() {
        let limits = TransferLimits::for_cores(16);
        assert_eq!((limits.threads, limits.pinned_bytes), (12, 128 << 20));
        // With the calling thread they keep within a quota, else the system would stop all of them.
        assert!([4, 8, 64].iter().all(|quota| TransferLimits::for_cores(*quota).threads < *quota));
        assert!(!limits.should_stage(Task::Upload, SMALLEST_COPY - 1));
        assert!(limits.should_stage(Task::Download, SMALLEST_COPY));
        assert!(limits.should_stage(Task::Compare, SMALLEST_COMPARISON));
        assert!(!TransferLimits::for_cores(2).should_stage(Task::Upload, 1 << 30));
        let nothing_pinned = TransferLimits { pinned_bytes: 4096, ..limits };
        assert!(!nothing_pinned.should_stage(Task::Download, 1 << 30));
    }

    #[test]
    fn a_large_lane_is_for_large_copies_of_programs_that_copy_much() {
        let limits = TransferLimits::for_cores(16);
        assert_eq!((limits.large_lane(), limits.small_lane()), (LARGE_LANE, SMALL_LANE));
        assert!(limits.is_worth_large_lane(1 << 30, 1 << 30));
        assert!(!limits.is_worth_large_lane(MIN_LARGE - 1, 1 << 30));
        assert!(!limits.is_worth_large_lane(32 << 20, 32 << 20));
    }

    #[test]
    fn more_than_four_devices_divide_the_pinned_memory() {
        let limits = TransferLimits::for_cores(16);
        let all = |devices| 2 * limits.pinned_for_lanes(devices) * devices;
        assert_eq!([1, 4, 5, 8].map(all), [128, 512, 320, 512].map(|mebibytes| mebibytes << 20));
        assert!(limits.large_lane() <= limits.pinned_for_lanes(8), "the lanes are no smaller");
        let least = TransferLimits { pinned_bytes: SMALLEST_PIECE, ..limits };
        assert_eq!(least.pinned_for_lanes(64), SMALLEST_PIECE);
    }

    proptest! {
        #[test]
        fn the_slots_fit_into_a_lane_and_the_lane_into_the_limit(
            threads in 1..64usize, pinned_bytes in SMALLEST_PIECE..1usize << 32,
            size in 1..1usize << 40, task in 0..3usize, devices in 1..=64usize,
        ) {
            let limits = TransferLimits { threads, pinned_bytes, begin_after: 0 };
            let most = limits.pinned_for_lanes(devices);
            let task = [Task::Upload, Task::Download, Task::Compare][task];
            let large = limits.is_worth_large_lane(size, size).then(|| limits.large_lane());
            for lane in large.into_iter().chain([limits.small_lane()]) {
                let lane = lane.min(most);
                let plan = limits.plan(task, size, lane);
                prop_assert!(most <= pinned_bytes && lane.is_multiple_of(GRAIN));
                prop_assert!(plan.slots > 0 && plan.slots * plan.piece <= lane);
                prop_assert!((1..=threads).contains(&plan.helpers));
                let pieces = size.div_ceil(plan.piece);
                let Moves { at_least, at_most, in_flight, .. } = plan.moves(task, pieces);
                prop_assert!((1..=at_most).contains(&at_least) && in_flight > 0);
                prop_assert!(at_least <= plan.slots, "else no move ever begins");
            }
        }
    }
}
