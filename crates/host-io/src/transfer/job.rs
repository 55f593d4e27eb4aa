//! One copy, as the threads that make it share it.

use super::plan::Direction;
use crossbeam_utils::Backoff;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A copy between host memory and slots of pinned memory, piece by piece.
///
/// Two sides work on it. Copiers move bytes between host memory and slots; the issuer has the
/// device move them between slots and device memory. In an upload a slot goes from copiers to the
/// issuer and back, in a download the other way round. A slot's stage says whose turn it is: it
/// grows by one whenever a side is done with it.
///
/// Whoever makes a job stays until [`close`](Self::close) has returned: so long its pointers are
/// valid.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) direction: Direction,
    host: *mut u8,
    size: usize,
    piece: usize,
    slots: Vec<*mut u8>,
    stages: Vec<AtomicUsize>,
    /// The next piece that no copier has taken.
    next: AtomicUsize,
    is_given_up: AtomicBool,
    /// How many copiers are at work, and whether no more may join.
    copiers: AtomicUsize,
}

const CLOSED: usize = 1 << (usize::BITS - 1);

// SAFETY: no two threads touch the same slot or piece at a time, by the stages; the memory outlives
// them, by the contract above.
unsafe impl Send for Job {}
// SAFETY: as above.
unsafe impl Sync for Job {}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Copier,
    Issuer,
}

impl Job {
    /// A copy of `size` bytes at `host` in pieces of at most `piece` bytes, which fit into a slot.
    pub(super) fn new(
        direction: Direction,
        host: *mut u8,
        size: usize,
        piece: usize,
        slots: Vec<*mut u8>,
    ) -> Self {
        Self {
            direction,
            host,
            size,
            piece,
            stages: slots.iter().map(|_| AtomicUsize::new(0)).collect(),
            slots,
            next: AtomicUsize::new(0),
            is_given_up: AtomicBool::new(false),
            copiers: AtomicUsize::new(0),
        }
    }

    pub(super) fn pieces(&self) -> usize {
        self.size.div_ceil(self.piece)
    }

    /// Where a piece begins, and how long it is.
    pub(super) fn span(&self, piece: usize) -> (usize, usize) {
        let at = piece * self.piece;
        (at, self.piece.min(self.size - at))
    }

    /// The slot that a piece goes through, and its memory.
    pub(super) fn slot(&self, piece: usize) -> (usize, *mut u8) {
        let slot = piece % self.slots.len();
        (slot, self.slots[slot])
    }

    /// The slot's stage when it is a side's turn to work on a piece.
    fn turn(&self, side: Side, piece: usize) -> usize {
        let first = match self.direction {
            Direction::Upload => Side::Copier,
            Direction::Download => Side::Issuer,
        };
        piece / self.slots.len() * 2 + usize::from(side != first)
    }

    fn is_turn_of(&self, side: Side, piece: usize) -> bool {
        let (slot, _) = self.slot(piece);
        self.stages[slot].load(Ordering::Acquire) == self.turn(side, piece)
    }

    fn end_turn_of(&self, side: Side, piece: usize) {
        let (slot, _) = self.slot(piece);
        self.stages[slot].store(self.turn(side, piece) + 1, Ordering::Release);
    }

    /// Whether the issuer may have a piece moved.
    pub(super) fn may_issue(&self, piece: usize) -> bool {
        self.is_turn_of(Side::Issuer, piece)
    }

    /// The device is done with a piece.
    pub(super) fn issued(&self, piece: usize) {
        self.end_turn_of(Side::Issuer, piece);
    }

    /// Copies pieces until all are taken, unless the job is closed or given up.
    pub(super) fn help(&self) {
        if self.copiers.fetch_add(1, Ordering::AcqRel) & CLOSED == 0 {
            while let Some(piece) = self.take() {
                let wait = Backoff::new();
                while !self.is_turn_of(Side::Copier, piece) && !self.is_given_up() {
                    wait.snooze();
                }
                if self.is_given_up() {
                    break;
                }
                self.copy(piece);
            }
        }
        self.copiers.fetch_sub(1, Ordering::AcqRel);
    }

    /// Copies the next piece, if that is possible at once.
    pub(super) fn help_once(&self) -> bool {
        let next = self.next.load(Ordering::Relaxed);
        let is_possible = next < self.pieces() && self.is_turn_of(Side::Copier, next);
        let order = Ordering::Relaxed;
        if is_possible && self.next.compare_exchange(next, next + 1, order, order).is_ok() {
            self.copy(next);
            return true;
        }
        false
    }

    fn take(&self) -> Option<usize> {
        let piece = self.next.fetch_add(1, Ordering::Relaxed);
        (piece < self.pieces()).then_some(piece)
    }

    fn copy(&self, piece: usize) {
        let ((at, length), (_, slot)) = (self.span(piece), self.slot(piece));
        // SAFETY: the piece lies within the host memory and fits into the slot; both are this
        // thread's, which has taken the piece when it was the copiers' turn.
        unsafe {
            let host = self.host.add(at);
            match self.direction {
                Direction::Upload => std::ptr::copy_nonoverlapping(host, slot, length),
                Direction::Download => std::ptr::copy_nonoverlapping(slot, host, length),
            }
        }
        self.end_turn_of(Side::Copier, piece);
    }

    /// Has everybody stop: the issuer has failed, and turns would never come.
    pub(super) fn give_up(&self) {
        self.is_given_up.store(true, Ordering::Release);
    }

    fn is_given_up(&self) -> bool {
        self.is_given_up.load(Ordering::Acquire)
    }

    /// Waits until no copier is at work; from now on nobody touches the memory.
    pub(super) fn close(&self) {
        self.copiers.fetch_or(CLOSED, Ordering::AcqRel);
        // They are at their last pieces, which takes less time than to fall asleep.
        let wait = Backoff::new();
        while self.copiers.load(Ordering::Acquire) != CLOSED {
            wait.snooze();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::thread;

    /// What the device would do: moves pieces between slots and "device memory".
    fn issue(job: &Job, device: &mut [u8]) {
        for piece in 0..job.pieces() {
            while !job.may_issue(piece) {
                if !job.help_once() {
                    thread::yield_now();
                }
            }
            let ((at, length), (_, slot)) = (job.span(piece), job.slot(piece));
            // SAFETY: it is the issuer's turn.
            let slot = unsafe { std::slice::from_raw_parts_mut(slot, length) };
            match job.direction {
                Direction::Upload => device[at..at + length].copy_from_slice(slot),
                Direction::Download => slot.copy_from_slice(&device[at..at + length]),
            }
            job.issued(piece);
        }
        while job.help_once() {}
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn every_byte_arrives_once(
            size in 1..2000usize, piece in 1..100usize, slots in 1..5usize, helpers in 0..4usize,
            down in any::<bool>(),
        ) {
            let from: Vec<u8> = (0..size).map(|at| (at * 7 + 1) as u8).collect();
            let (mut host, mut device) = (from.clone(), vec![0; size]);
            let mut direction = Direction::Upload;
            if down {
                (host, device, direction) = (vec![0; size], from.clone(), Direction::Download);
            }
            let mut memory = vec![0; slots * piece];
            let slots = memory.chunks_mut(piece).map(<[u8]>::as_mut_ptr).collect();
            let job = Job::new(direction, host.as_mut_ptr(), size, piece, slots);
            thread::scope(|scope| {
                for _ in 0..helpers {
                    scope.spawn(|| job.help());
                }
                issue(&job, &mut device);
                job.close();
            });
            prop_assert_eq!(&host, &from);
            prop_assert_eq!(&device, &from);
        }

        #[test]
        fn a_job_that_is_given_up_ends(helpers in 1..4usize, issued in 0..3usize) {
            let mut host = vec![0u8; 1000];
            let mut memory = [0u8; 20];
            let slots = memory.chunks_mut(10).map(<[u8]>::as_mut_ptr).collect();
            let job = Job::new(Direction::Upload, host.as_mut_ptr(), 1000, 10, slots);
            thread::scope(|scope| {
                for _ in 0..helpers {
                    scope.spawn(|| job.help());
                }
                for piece in 0..issued {
                    while !job.may_issue(piece) {
                        job.help_once();
                    }
                    job.issued(piece);
                }
                job.give_up();
                job.close();
            });
        }
    }
}
