//! A staged copy, as its threads share it.

use super::backoff::Backoff;
use super::file::ReadError;
use super::fresh::HUGE_PAGE;
use super::host::{Host, HostMemory};
use super::stores::{copy_non_temporal, fence_stores};
use crossbeam_utils::CachePadded;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The direction of a staged copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Host to device.
    Upload,
    /// Device to host.
    Download,
    /// The device's bytes are compared with the host's.
    Compare,
}

/// A copy of host memory or of a file through staging slots of pinned memory, piece by piece.
///
/// Two sides work on it. Copiers move (or compare) bytes between the host side and slots; the issuer
/// has the device move them between slots and device memory. In an upload a slot passes from the
/// copiers to the issuer and back, otherwise the other way round. A slot's stage says whose turn it
/// is: each side increments it when it finishes its turn.
///
/// The creator of a job keeps its pointers valid, and its file open, until [`close`](Self::close) has returned.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) task: Task,
    host: Host,
    /// The size of a piece, and the distance between slots.
    piece: usize,
    /// The size of the first piece, which may be smaller.
    first: usize,
    slots: *mut u8,
    /// Each stage has a cache line of its own, to avoid false sharing.
    stages: Vec<CachePadded<AtomicUsize>>,
    /// The next piece that no copier has taken.
    next: CachePadded<AtomicUsize>,
    is_stopped: AtomicBool,
    differs: AtomicBool,
    /// Why the file could not be read.
    failure: Mutex<Option<ReadError>>,
    /// The number of active copiers, and a bit that stops others from joining.
    copiers: CachePadded<AtomicUsize>,
}

/// Larger uploads use the processor's caches: on an H200's host, memory alone sustains 33 to 45
/// GB/s for 1 GiB, and the caches 50 (measured).
const MAX_NON_TEMPORAL: usize = 64 << 20;

const CLOSED: usize = 1 << (usize::BITS - 1);

// SAFETY: the stages ensure that no two threads touch the same slot or piece at a time; the memory
// outlives them, by the contract above.
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
    pub(super) fn new(task: Task, host: Host, piece: usize, slots: *mut u8, count: usize) -> Self {
        // Two threads that touch the same fresh page at the same time wait for each other.
        let past_page = match &host {
            Host::Memory(memory) if piece == HUGE_PAGE => {
                memory.contiguous_start().map_or(0, |start| start as usize % HUGE_PAGE)
            }
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
            failure: Mutex::default(),
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

    /// The offset and total length of `count` pieces.
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

    /// The address of a piece in its slot. It follows the piece before it if their slots are
    /// adjacent.
    pub(super) fn slot(&self, piece: usize) -> *mut u8 {
        let room_before = if piece == 0 { self.piece - self.first } else { 0 };
        self.slots.wrapping_add(piece % self.stages.len() * self.piece + room_before)
    }

    /// The slot's stage at a side's turn on a piece.
    fn turn(&self, side: Side, piece: usize) -> usize {
        let first = if self.task == Task::Upload { Side::Copier } else { Side::Issuer };
        piece / self.stages.len() * 2 + usize::from(side != first)
    }

    fn is_turn(&self, side: Side, piece: usize) -> bool {
        self.stage(piece).load(Ordering::Acquire) == self.turn(side, piece)
    }

    fn end_turn(&self, side: Side, piece: usize) {
        self.stage(piece).store(self.turn(side, piece) + 1, Ordering::Release);
    }

    /// How many pieces from `piece` on, at most `most`, have adjacent slots.
    pub(super) fn adjacent_slots(&self, piece: usize, most: usize) -> usize {
        let count = self.stages.len();
        most.min(count - piece % count).min(self.pieces() - piece)
    }

    /// How many pieces from `piece` on, at most `most`, the device can move in one call now.
    pub(super) fn ready_pieces(&self, piece: usize, most: usize) -> usize {
        let pieces = piece..piece + self.adjacent_slots(piece, most);
        pieces.take_while(|piece| self.is_turn(Side::Issuer, *piece)).count()
    }

    /// Records that the device has moved a piece.
    pub(super) fn finish_move(&self, piece: usize) {
        self.end_turn(Side::Issuer, piece);
    }

    /// Copies pieces until all are taken, unless the job is closed or stopped.
    pub(super) fn help(&self) {
        if self.copiers.fetch_add(1, Ordering::AcqRel) & CLOSED == 0 {
            while let Some(piece) = self.take() {
                let mut backoff = Backoff::default();
                while !self.is_turn(Side::Copier, piece) && !self.is_stopped() {
                    backoff.wait();
                }
                if self.is_stopped() {
                    break;
                }
                self.work_on(piece);
            }
        }
        self.copiers.fetch_sub(1, Ordering::AcqRel);
    }

    /// Copies the next piece, if one is ready.
    pub(super) fn help_once(&self) -> bool {
        let next = self.next.load(Ordering::Relaxed);
        let is_possible = next < self.pieces() && self.is_turn(Side::Copier, next);
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
        let (at, size) = self.span(piece, 1);
        let slot = self.slot(piece);
        match &self.host {
            Host::Memory(memory) => self.work_on_memory(memory, at, slot, size),
            Host::File(file) => {
                // SAFETY: the slot belongs to this thread, which has taken the piece at the copiers'
                // turn; pinned memory is initialised.
                let slot = unsafe { std::slice::from_raw_parts_mut(slot, size) };
                if let Err(error) = file.read(at, slot) {
                    // The turn does not end, so the device does not move the slot.
                    return self.fail(error);
                }
            }
        }
        self.end_turn(Side::Copier, piece);
    }

    fn work_on_memory(&self, memory: &HostMemory<'_>, at: usize, slot: *mut u8, size: usize) {
        let mut end = 0;
        for (host, offset, length) in memory.runs(at, size) {
            self.fill_gap(slot, end, offset);
            end = offset + length;
            let slot = slot.wrapping_add(offset);
            // SAFETY: a run of the host memory, and its place in the slot; both belong to this
            // thread, which has taken the piece at the copiers' turn.
            unsafe {
                match self.task {
                    Task::Upload if memory.size() <= MAX_NON_TEMPORAL => {
                        copy_non_temporal(host, slot, length);
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
        self.fill_gap(slot, end, size);
        // The ordinary store that publishes the bytes to other threads must come after this.
        fence_stores();
    }

    /// Clears what an upload brings to the device between its parts: an earlier copy has left other
    /// data in the slot.
    fn fill_gap(&self, slot: *mut u8, from: usize, to: usize) {
        if self.task == Task::Upload && from < to {
            // SAFETY: within a slot that belongs to this thread.
            unsafe { slot.add(from).write_bytes(0, to - from) };
        }
    }

    /// Stops all threads, and keeps the first error.
    fn fail(&self, error: ReadError) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.stop();
    }

    /// Why the file could not be read; valid once the job is closed.
    pub(super) fn failure(&self) -> Option<ReadError> {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops all threads: the answer is known, or a side has failed and turns would never come.
    pub(super) fn stop(&self) {
        self.is_stopped.store(true, Ordering::Release);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Acquire)
    }

    /// Whether a comparison has found a difference; valid once the job is closed.
    pub(super) fn differs(&self) -> bool {
        self.differs.load(Ordering::Acquire)
    }

    /// Waits until no copier is active. No thread accesses the memory afterwards.
    pub(super) fn close(&self) {
        self.copiers.fetch_or(CLOSED, Ordering::AcqRel);
        // The copiers are at their last pieces, which take less time than going to sleep.
        let mut backoff = Backoff::default();
        while self.copiers.load(Ordering::Acquire) != CLOSED {
            backoff.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::file::FilePart;
    use super::*;
    use proptest::prelude::*;
    use std::io::Write;
    use std::mem::MaybeUninit;
    use std::thread;

    fn of(host: &mut [u8]) -> Host {
        let host = std::ptr::from_mut(host) as *mut [MaybeUninit<u8>];
        // SAFETY: the tests outlive their jobs, which only store initialised bytes.
        Host::Memory(unsafe { HostMemory::target(&mut *host).without_lifetime() })
    }

    /// Plays the device: moves pieces between slots and "device memory".
    fn issue(job: &Job, device: &mut [u8], most: usize) {
        let mut piece = 0;
        while piece < job.pieces() && !job.is_stopped() {
            let count = job.ready_pieces(piece, most);
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
                job.finish_move(piece);
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
        fn parts_with_gaps_arrive_and_gaps_are_cleared(
            parts in proptest::collection::vec((0..40usize, 0..60usize), 1..30), piece in 1..100usize,
            slots in 1..5usize, helpers in 0..4usize, down in any::<bool>(),
        ) {
            let mut offsets = Vec::new();
            let mut end = 0;
            for (gap, length) in &parts {
                offsets.push(end + gap);
                end += gap + length;
            }
            let mut host: Vec<Vec<u8>> =
                parts.iter().map(|(_, length)| vec![if down { 0xAA } else { 7 }; *length]).collect();
            let places = offsets.iter().copied();
            let mut placed: Vec<_> = places
                .zip(host.iter_mut().map(|part| {
                    let part = std::ptr::from_mut(part.as_mut_slice()) as *mut [MaybeUninit<u8>];
                    // SAFETY: the test outlives its job, which only stores initialised bytes.
                    unsafe { &mut *part }
                }))
                .collect();
            // SAFETY: as above.
            let memory = unsafe { HostMemory::targets(&mut placed).without_lifetime() };
            let size = memory.size();
            if size > 0 {
                let mut device = vec![if down { 7 } else { 0xEE }; size];
                let mut staging = vec![0x55; slots * piece];
                let task = if down { Task::Download } else { Task::Upload };
                let job = Job::new(task, Host::Memory(memory), piece, staging.as_mut_ptr(), slots);
                finish(&job, &mut device, helpers, 1);
                prop_assert!(host.concat().iter().all(|byte| *byte == 7));
                if !down {
                    let mut wanted = vec![0; size];
                    for (at, part) in offsets.iter().zip(&host).filter(|(_, part)| !part.is_empty()) {
                        wanted[*at..at + part.len()].copy_from_slice(part);
                    }
                    prop_assert_eq!(device, wanted);
                }
            }
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
        fn a_file_arrives_or_its_end_is_named(
            size in 1..2000usize, piece in 1..100usize, slots in 1..5usize, helpers in 0..4usize,
            offset in 0..50usize, missing in proptest::option::of(1..2000usize),
        ) {
            let bytes: Vec<u8> = (0..offset + size).map(|at| (at * 7 + 1) as u8).collect();
            let end = bytes.len() - missing.map_or(0, |missing| missing.min(size));
            let mut file = tempfile::tempfile()?;
            file.write_all(&bytes[..end])?;
            // SAFETY: the file outlives its job.
            let part = unsafe { FilePart::new(&file, offset as u64, size).without_lifetime() };
            let (mut memory, mut device) = (vec![0x55; slots * piece], vec![0xEE; size]);
            let job = Job::new(Task::Upload, Host::File(part), piece, memory.as_mut_ptr(), slots);
            finish(&job, &mut device, helpers, 2);
            if missing.is_none() {
                prop_assert_eq!(&device, &bytes[offset..]);
                prop_assert_eq!(job.failure(), None);
            } else {
                let failure = job.failure().expect("the file is too short");
                prop_assert_eq!(failure.code, None);
                prop_assert_eq!(failure.position, end as u64);
            }
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
                    while job.ready_pieces(piece, 1) == 0 {
                        job.help_once();
                    }
                    job.finish_move(piece);
                }
                job.stop();
                job.close();
            });
        }
    }

    #[test]
    fn the_device_never_moves_what_was_not_read() {
        let file = tempfile::tempfile().expect("a file");
        // SAFETY: the file outlives its job.
        let part = unsafe { FilePart::new(&file, 0, 10).without_lifetime() };
        let mut memory = [0; 10];
        let job = Job::new(Task::Upload, Host::File(part), 10, memory.as_mut_ptr(), 1);
        assert!(job.help_once() && job.is_stopped());
        assert_eq!(job.ready_pieces(0, 1), 0);
    }
}
