//! One piece of work, as the threads that do it share it.

use super::fresh::HUGE_PAGE;
use super::host::HostMemory;
use super::patience::Patience;
use super::stores::{copy_past_caches, finish_stores};
use crossbeam_utils::CachePadded;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What is done with the host's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Its bytes go to the device.
    Upload,
    /// The device's bytes come into it.
    Download,
    /// The device's bytes are compared with it.
    Compare,
}

/// Work on host memory by way of slots of pinned memory, piece by piece.
///
/// Two sides work on it. Copiers move (or compare) bytes between host memory and slots; the issuer
/// has the device move them between slots and device memory. In an upload a slot goes from copiers
/// to the issuer and back, otherwise the other way round. A slot's stage says whose turn it is: it
/// grows by one whenever a side is done with it.
///
/// Whoever makes a job stays until [`close`](Self::close) has returned: so long its pointers are
/// valid.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) task: Task,
    host: HostMemory<'static>,
    /// The size of a piece, and how far apart the slots lie.
    piece: usize,
    /// The size of the first piece, which may be smaller.
    first: usize,
    slots: *mut u8,
    /// Each in a cache line of its own: threads that change neighbours would slow each other down.
    stages: Vec<CachePadded<AtomicUsize>>,
    /// The next piece that no copier has taken.
    next: CachePadded<AtomicUsize>,
    is_stopped: AtomicBool,
    differs: AtomicBool,
    /// How many copiers are at work, and whether no more may join.
    copiers: CachePadded<AtomicUsize>,
}

/// Larger uploads go by way of the processor's caches: measured on an H200's host, the memory takes
/// and gives 1 GiB at 33 to 45 GB/s, and the caches at 50.
const MOST_PAST_CACHES: usize = 64 << 20;

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
    /// Work on `host` in pieces of at most `piece` bytes, through `count` slots of that size, one
    /// behind the other from `slots` on.
    pub(super) fn new(
        task: Task,
        host: HostMemory<'static>,
        piece: usize,
        slots: *mut u8,
        count: usize,
    ) -> Self {
        // Two threads that touch the same fresh page at a time wait for each other.
        let past_page = match host.start_of_only_part() {
            Some(start) if piece == HUGE_PAGE => start as usize % HUGE_PAGE,
            _ => 0,
        };
        Self {
            task,
            first: (piece - past_page).min(host.size()),
            host,
            piece,
            slots,
            stages: (0..count).map(|_| CachePadded::default()).collect(),
            next: CachePadded::default(),
            is_stopped: AtomicBool::new(false),
            differs: AtomicBool::new(false),
            copiers: CachePadded::default(),
        }
    }

    /// The size of a piece, unless it is the first or the last one.
    pub(super) fn piece(&self) -> usize {
        self.piece
    }

    pub(super) fn pieces(&self) -> usize {
        1 + (self.host.size() - self.first).div_ceil(self.piece)
    }

    /// Whether each piece has a slot of its own.
    pub(super) fn fits(&self) -> bool {
        self.pieces() <= self.stages.len()
    }

    /// Where `count` pieces begin, and how long they are together.
    pub(super) fn span(&self, piece: usize, count: usize) -> (usize, usize) {
        let at = self.start(piece);
        (at, self.start(piece + count) - at)
    }

    fn start(&self, piece: usize) -> usize {
        let before = piece.checked_sub(1).map_or(0, |full| self.first + full * self.piece);
        before.min(self.host.size())
    }

    fn stage(&self, piece: usize) -> &AtomicUsize {
        &self.stages[piece % self.stages.len()]
    }

    /// Where a piece lies in its slot: behind the piece before it, where their slots are neighbours.
    pub(super) fn slot(&self, piece: usize) -> *mut u8 {
        let room_before = if piece == 0 { self.piece - self.first } else { 0 };
        self.slots.wrapping_add(piece % self.stages.len() * self.piece + room_before)
    }

    /// The slot's stage when it is a side's turn to work on a piece.
    fn turn(&self, side: Side, piece: usize) -> usize {
        let first = if self.task == Task::Upload { Side::Copier } else { Side::Issuer };
        piece / self.stages.len() * 2 + usize::from(side != first)
    }

    fn is_turn_of(&self, side: Side, piece: usize) -> bool {
        self.stage(piece).load(Ordering::Acquire) == self.turn(side, piece)
    }

    fn end_turn_of(&self, side: Side, piece: usize) {
        self.stage(piece).store(self.turn(side, piece) + 1, Ordering::Release);
    }

    /// How many pieces from `piece` on, at most `most`, have slots that lie side by side.
    pub(super) fn side_by_side(&self, piece: usize, most: usize) -> usize {
        let count = self.stages.len();
        most.min(count - piece % count).min(self.pieces() - piece)
    }

    /// How many pieces from `piece` on, at most `most`, the issuer may have the device move in one go.
    pub(super) fn may_move(&self, piece: usize, most: usize) -> usize {
        let pieces = piece..piece + self.side_by_side(piece, most);
        pieces.take_while(|piece| self.is_turn_of(Side::Issuer, *piece)).count()
    }

    /// The device is done with a piece.
    pub(super) fn moved(&self, piece: usize) {
        self.end_turn_of(Side::Issuer, piece);
    }

    /// Copies pieces until all are taken, unless the job is closed or stopped.
    pub(super) fn help(&self) {
        if self.copiers.fetch_add(1, Ordering::AcqRel) & CLOSED == 0 {
            while let Some(piece) = self.take() {
                let mut patience = Patience::default();
                while !self.is_turn_of(Side::Copier, piece) && !self.is_stopped() {
                    patience.wait();
                }
                if self.is_stopped() {
                    break;
                }
                self.work_on(piece);
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
            self.work_on(next);
            return true;
        }
        false
    }

    fn take(&self) -> Option<usize> {
        let piece = self.next.fetch_add(1, Ordering::Relaxed);
        (piece < self.pieces()).then_some(piece)
    }

    fn work_on(&self, piece: usize) {
        let (at, length) = self.span(piece, 1);
        for (host, offset, length) in self.host.stretches(at, length) {
            let slot = self.slot(piece).wrapping_add(offset);
            // SAFETY: a stretch of the host memory, and its place in the slot; both are this
            // thread's, which has taken the piece when it was the copiers' turn.
            unsafe {
                match self.task {
                    Task::Upload if self.host.size() <= MOST_PAST_CACHES => {
                        copy_past_caches(host, slot, length);
                    }
                    Task::Upload => std::ptr::copy_nonoverlapping(host, slot, length),
                    Task::Download => std::ptr::copy_nonoverlapping(slot, host, length),
                    Task::Compare => {
                        let theirs = std::slice::from_raw_parts(host, length);
                        if std::slice::from_raw_parts(slot, length) != theirs {
                            self.differs.store(true, Ordering::Release);
                            self.stop();
                        }
                    }
                }
            }
        }
        // Others are told that the bytes are there by an ordinary store, which must come after.
        finish_stores();
        self.end_turn_of(Side::Copier, piece);
    }

    /// Has everybody stop: the answer is known, or the issuer has failed and turns would never come.
    pub(super) fn stop(&self) {
        self.is_stopped.store(true, Ordering::Release);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Acquire)
    }

    /// Whether a comparison has found a difference; ask when it is closed.
    pub(super) fn differs(&self) -> bool {
        self.differs.load(Ordering::Acquire)
    }

    /// Waits until no copier is at work; from now on nobody touches the memory.
    pub(super) fn close(&self) {
        self.copiers.fetch_or(CLOSED, Ordering::AcqRel);
        // They are at their last pieces, which takes less time than to fall asleep.
        let mut patience = Patience::default();
        while self.copiers.load(Ordering::Acquire) != CLOSED {
            patience.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::mem::MaybeUninit;
    use std::thread;

    fn of(host: &mut [u8]) -> HostMemory<'static> {
        let host = std::ptr::from_mut(host) as *mut [MaybeUninit<u8>];
        // SAFETY: the tests outlive their jobs, which only store initialised bytes.
        unsafe { HostMemory::target(&mut *host).unbound() }
    }

    /// What the device would do: moves pieces between slots and "device memory".
    fn issue(job: &Job, device: &mut [u8], most: usize) {
        let mut piece = 0;
        while piece < job.pieces() && !job.is_stopped() {
            let count = job.may_move(piece, most);
            if count == 0 {
                if !job.help_once() {
                    thread::yield_now();
                }
                continue;
            }
            let (at, length) = job.span(piece, count);
            // SAFETY: it is the issuer's turn for these slots, which lie side by side.
            let slots = unsafe { std::slice::from_raw_parts_mut(job.slot(piece), length) };
            match job.task {
                Task::Upload => device[at..at + length].copy_from_slice(slots),
                Task::Download | Task::Compare => slots.copy_from_slice(&device[at..at + length]),
            }
            for _ in 0..count {
                job.moved(piece);
                piece += 1;
            }
        }
        while job.help_once() {}
    }

    fn finish(job: &Job, device: &mut [u8], helpers: usize, most: usize) {
        thread::scope(|scope| {
            for _ in 0..helpers {
                scope.spawn(|| job.help());
            }
            issue(job, device, most);
            job.close();
        });
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn every_byte_arrives_once(
            size in 1..2000usize, piece in 1..100usize, slots in 1..5usize, helpers in 0..4usize,
            down in any::<bool>(), most in 1..4usize,
        ) {
            let from: Vec<u8> = (0..size).map(|at| (at * 7 + 1) as u8).collect();
            let (mut host, mut device, mut task) = (from.clone(), vec![0; size], Task::Upload);
            if down {
                (host, device, task) = (vec![0; size], from.clone(), Task::Download);
            }
            let mut memory = vec![0; slots * piece];
            let host_memory = of(&mut host);
            let job = Job::new(task, host_memory, piece, memory.as_mut_ptr(), slots);
            finish(&job, &mut device, helpers, most);
            prop_assert_eq!(&host, &from);
            prop_assert_eq!(&device, &from);
        }

        #[test]
        fn a_difference_is_found_wherever_it_is(
            size in 1..2000usize, piece in 1..100usize, slots in 1..5usize, helpers in 0..4usize,
            differs_at in proptest::option::of(0..2000usize),
        ) {
            let mut host: Vec<u8> = (0..size).map(|at| (at * 7 + 1) as u8).collect();
            let mut device = host.clone();
            let differs_at = differs_at.filter(|at| *at < size);
            if let Some(at) = differs_at {
                device[at] ^= 1;
            }
            let mut memory = vec![0; slots * piece];
            let host_memory = of(&mut host);
            let job = Job::new(Task::Compare, host_memory, piece, memory.as_mut_ptr(), slots);
            finish(&job, &mut device, helpers, 1);
            prop_assert_eq!(job.differs(), differs_at.is_some());
        }

        #[test]
        fn a_job_that_is_stopped_ends(helpers in 1..4usize, issued in 0..3usize) {
            let mut host = vec![0u8; 1000];
            let mut memory = [0u8; 20];
            let host_memory = of(&mut host);
            let job = Job::new(Task::Upload, host_memory, 10, memory.as_mut_ptr(), 2);
            thread::scope(|scope| {
                for _ in 0..helpers {
                    scope.spawn(|| job.help());
                }
                for piece in 0..issued {
                    while job.may_move(piece, 1) == 0 {
                        job.help_once();
                    }
                    job.moved(piece);
                }
                job.stop();
                job.close();
            });
        }
    }
}
