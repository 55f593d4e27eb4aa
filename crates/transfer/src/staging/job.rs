//! A staged copy, as its threads share it.

use super::helpers::Helpers;
use super::host::{HUGE_PAGE, HostMemory, Stores, fence_stores};
use super::plan::Plan;
use super::plan::Task;
use super::sync::{AtomicBool, AtomicUsize, Ordering};
use super::turns::{Side, Turns};
use crossbeam_utils::CachePadded;

/// A copy of host memory through staging slots of pinned memory, piece by piece.
///
/// Two sides work on it. Copiers move (or compare) bytes between the host side and slots; the issuer
/// has the device move them between slots and device memory. In an upload a slot passes from the
/// copiers to the issuer and back, otherwise the other way round; they take [`Turns`].
///
/// The creator of a job keeps its pointers valid until [`close`](Self::close) has returned.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) task: Task,
    host: HostMemory<'static>,
    /// The size of a piece, and the distance between slots.
    piece: usize,
    /// The size of the first piece, which may be smaller.
    first: usize,
    slots: *mut u8,
    turns: Turns,
    /// The next piece that no copier has taken.
    next: CachePadded<AtomicUsize>,
    /// The pieces below this one are, or were, the copiers' turn.
    granted: AtomicUsize,
    pub(super) helpers: Helpers,
    stores: Stores,
    is_stopped: AtomicBool,
    differs: AtomicBool,
}

/// From this number of helpers on, the issuer attends to the device only.
const MANY_HELPERS: usize = 4;
/// A larger piece keeps the issuer from the device for too long.
const LARGEST_HELP: usize = 128 << 10;

// SAFETY: the turns ensure that no two threads touch the same slot or piece at a time; the memory
// outlives them, by the contract above.
unsafe impl Send for Job {}
// SAFETY: as above.
unsafe impl Sync for Job {}

impl Job {
    /// Work on `host` as planned, through slots that lie one after the other from `slots` on.
    pub(super) fn new(task: Task, host: HostMemory<'static>, plan: Plan, slots: *mut u8) -> Self {
        let Plan { helpers, piece, slots: count } = plan;
        // Two threads that touch the same fresh page at the same time wait for each other.
        let past_page = match host.contiguous_start() {
            Some(start) if piece == HUGE_PAGE => start as usize % HUGE_PAGE,
            _ => 0,
        };
        let first_side = if task == Task::Upload { Side::Copier } else { Side::Issuer };
        Self {
            task,
            first: (piece - past_page).min(host.size()),
            stores: Stores::for_copy(task, host.size(), || host.is_fresh()),
            host,
            piece,
            slots,
            turns: Turns::of(first_side, count),
            next: CachePadded::default(),
            granted: AtomicUsize::new(if first_side == Side::Copier { count } else { 0 }),
            helpers: Helpers::at_most(helpers),
            is_stopped: AtomicBool::new(false),
            differs: AtomicBool::new(false),
        }
    }

    pub(super) fn pieces(&self) -> usize {
        1 + (self.host.size() - self.first).div_ceil(self.piece)
    }

    /// Whether the issuer should copy, too: the device must not wait for it.
    pub(super) fn is_worth_helping(&self, is_device_busy: bool) -> bool {
        match self.piece <= LARGEST_HELP {
            true => !is_device_busy || self.helpers.count() < MANY_HELPERS,
            false => self.helpers.count() == 0,
        }
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

    /// The address of a piece in its slot. It follows the piece before it if their slots are
    /// adjacent.
    pub(super) fn slot(&self, piece: usize) -> *mut u8 {
        let room_before = if piece == 0 { self.piece - self.first } else { 0 };
        self.slots.wrapping_add(piece % self.turns.slots() * self.piece + room_before)
    }

    /// How many pieces from `piece` on, at most `most`, have adjacent slots.
    pub(super) fn adjacent_slots(&self, piece: usize, most: usize) -> usize {
        let count = self.turns.slots();
        most.min(count - piece % count).min(self.pieces() - piece)
    }

    /// How many pieces from `piece` on, at most `most`, the device can move in one call now.
    pub(super) fn ready_pieces(&self, piece: usize, most: usize) -> usize {
        let pieces = piece..piece + self.adjacent_slots(piece, most);
        pieces.take_while(|piece| self.turns.is(Side::Issuer, *piece)).count()
    }

    pub(super) fn finish_move(&self, piece: usize) {
        self.turns.end(Side::Issuer, piece);
        self.granted.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn lacking_helpers(&self) -> usize {
        let ready = self.granted.load(Ordering::Relaxed).min(self.pieces());
        self.helpers.lacking(ready.saturating_sub(self.next.load(Ordering::Relaxed)))
    }

    /// The work of a helper: it copies pieces as long as one is ready soon, unless the job is closed or
    /// stopped.
    pub(super) fn help(&self) {
        self.helpers.help(|| {
            while self.helpers.wait(|| self.has_ready_piece(), || self.has_more()) {
                while self.help_once() {}
            }
        });
    }

    fn has_ready_piece(&self) -> bool {
        self.has_more() && self.turns.is(Side::Copier, self.next.load(Ordering::Relaxed))
    }

    /// Whether there are pieces that no copier has taken.
    pub(super) fn has_more(&self) -> bool {
        self.next.load(Ordering::Relaxed) < self.pieces() && !self.is_stopped()
    }

    pub(super) fn help_once(&self) -> bool {
        let next = self.next.load(Ordering::Relaxed);
        let is_possible = next < self.pieces() && self.turns.is(Side::Copier, next);
        let order = Ordering::Relaxed;
        if is_possible && self.next.compare_exchange(next, next + 1, order, order).is_ok() {
            self.work_on(next);
            return true;
        }
        false
    }

    fn work_on(&self, piece: usize) {
        let (at, size) = self.span(piece, 1);
        let slot = self.slot(piece);
        let mut end = 0;
        for (host, offset, length) in self.host.runs(at, size) {
            self.fill_gap(slot, end, offset);
            end = offset + length;
            let slot = slot.wrapping_add(offset);
            // SAFETY: a run of the host memory, and its place in the slot; both belong to this
            // thread, which has taken the piece at the copiers' turn.
            unsafe {
                match self.task {
                    Task::Upload => self.stores.copy(host, slot, length),
                    Task::Download => self.stores.copy(slot, host, length),
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
        self.turns.end(Side::Copier, piece);
    }

    /// Clears what an upload brings to the device between its parts: an earlier copy has left other
    /// data in the slot.
    fn fill_gap(&self, slot: *mut u8, from: usize, to: usize) {
        if self.task == Task::Upload && from < to {
            // SAFETY: within a slot that belongs to this thread.
            unsafe { slot.add(from).write_bytes(0, to - from) };
        }
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

    /// Waits until no helper is at work. None accesses the memory afterwards.
    pub(super) fn close(&self) {
        self.helpers.close();
    }
}

/// Closes a job when it is dropped, also if its issuer panics.
pub(super) struct ClosedOnDrop<'job>(pub(super) &'job Job);

impl Drop for ClosedOnDrop<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
        self.0.close();
    }
}

#[cfg(test)]
#[path = "job/tests.rs"]
mod tests;
