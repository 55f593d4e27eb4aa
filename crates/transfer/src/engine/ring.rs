//! The ring of pinned staging slots for a device's copies, and how the device moves them.

use super::backoff::Backoff;
use super::job::{Job, Task};
use crate::HostBuffer;
use arrow_cuda_context::{Context, Current, Event, StreamHandle};
use arrow_cuda_driver::CudaResult;
use std::collections::VecDeque;

/// A smaller copy does not justify the overhead of a call and of its start on the device.
const SMALLEST_MOVE: usize = 256 << 10;

/// Staging slots in one pinned allocation, with an event for each that marks the end of its move.
#[derive(Debug)]
pub(super) struct Ring {
    pinned: HostBuffer,
    done: Vec<Event>,
}

/// A batch of pieces that the device moves, with one event.
struct Batch {
    /// The first piece, whose event marks the end of the batch.
    first: usize,
    /// The piece behind the last one.
    end: usize,
}

impl Ring {
    pub(super) fn new(context: &Context, slots: usize, slot_size: usize) -> CudaResult<Self> {
        let pinned = HostBuffer::allocate(context, slots * slot_size)?;
        let done = (0..slots).map(|_| Event::new(context)).collect::<CudaResult<_>>()?;
        Ok(Self { pinned, done })
    }

    /// The start of the slots.
    pub(super) fn slots(&self) -> *mut u8 {
        self.pinned.start()
    }

    /// Has the device move all pieces of a job, to or from `device` on.
    ///
    /// The moves run after the work that is queued on the default stream, and are complete when
    /// this returns, even after a failure.  At least one other thread must help with the job.
    pub(super) fn issue(
        &mut self,
        current: &Current<'_>,
        job: &Job,
        device: u64,
    ) -> CudaResult<()> {
        let moved = self.move_all(current, job, device);
        if moved.is_err() || job.is_stopped() {
            job.stop();
            return moved.and(current.synchronize_stream(StreamHandle::DEFAULT));
        }
        moved
    }

    fn move_all(&self, current: &Current<'_>, job: &Job, device: u64) -> CudaResult<()> {
        let pieces = job.pieces();
        let at_least = SMALLEST_MOVE.div_ceil(job.piece());
        // If an upload uses no slot twice, all ready pieces may move at once, and only the last
        // move needs an event.
        let single_event = job.task == Task::Upload && job.fits();
        let at_most = if single_event { pieces } else { at_least };
        let mut moves = VecDeque::new();
        // Pieces whose move is queued, whose event is recorded, and whose move is complete.
        let (mut begun, mut announced, mut moved) = (0, 0, 0);
        let mut backoff = Backoff::default();
        while moved < pieces && !job.is_stopped() {
            let ready = job.ready_pieces(begun, at_most);
            if ready > 0 && ready >= job.adjacent_slots(begun, at_least) {
                self.begin(current, job, (begun, ready), device)?;
                begun += ready;
                if !single_event || begun == pieces {
                    // Records an event behind the moves that were queued since the last one.
                    current.record(self.event_of(announced), StreamHandle::DEFAULT)?;
                    moves.push_back(Batch { first: announced, end: begun });
                    announced = begun;
                }
            } else if let Some(Batch { first, end }) = moves.front()
                && current.is_reached(self.event_of(*first))?
            {
                (moved..*end).for_each(|piece| job.finish_move(piece));
                moved = *end;
                moves.pop_front();
            } else if begun > moved || !job.help_once() {
                // While the device is busy, this thread stays free to serve it.
                backoff.wait();
                continue;
            }
            backoff = Backoff::default();
        }
        // The rest of a download are pieces that no worker has taken.
        while !job.is_stopped() && job.help_once() {}
        Ok(())
    }

    fn begin(
        &self,
        current: &Current<'_>,
        job: &Job,
        (piece, count): (usize, usize),
        device: u64,
    ) -> CudaResult<()> {
        let ((at, length), slot) = (job.span(piece, count), job.slot(piece));
        let (device, stream) = (device + at as u64, StreamHandle::DEFAULT);
        // SAFETY: the pieces lie within both, and it is the issuer's turn.
        unsafe {
            match job.task {
                Task::Upload => current.queue_copy_from_host(device, slot, length, stream),
                Task::Download | Task::Compare => {
                    current.queue_copy_to_host(slot, device, length, stream)
                }
            }
        }
    }

    /// The event of the batch that begins with a piece.  There are at most as many batches in
    /// flight as slots.
    fn event_of(&self, piece: usize) -> &Event {
        &self.done[piece % self.done.len()]
    }
}
