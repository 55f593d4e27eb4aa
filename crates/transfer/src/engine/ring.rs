//! The pinned memory that a device's copies go through, and how the device moves it.

use super::job::{Job, Task};
use super::patience::Patience;
use crate::HostBuffer;
use arrow_cuda_context::{Context, Current, Event, StreamHandle};
use arrow_cuda_driver::CudaResult;
use std::collections::VecDeque;

/// Less is not worth a call of its own, nor the time that the device needs to begin with it.
const SMALLEST_MOVE: usize = 256 << 10;

/// Slots of pinned memory in one allocation, with as many events for when the device is done.
#[derive(Debug)]
pub(super) struct Ring {
    pinned: HostBuffer,
    done: Vec<Event>,
}

/// Pieces that the device moves, and that are waited for together.
struct Move {
    /// The first piece, whose event tells of the end of all.
    first: usize,
    /// The first piece that is not among them.
    end: usize,
}

impl Ring {
    pub(super) fn new(context: &Context, slots: usize, slot_size: usize) -> CudaResult<Self> {
        let pinned = HostBuffer::allocate(context, slots * slot_size)?;
        let done = (0..slots).map(|_| Event::new(context)).collect::<CudaResult<_>>()?;
        Ok(Self { pinned, done })
    }

    /// Where the slots begin.
    pub(super) fn slots(&self) -> *mut u8 {
        self.pinned.as_ptr()
    }

    /// Has the device move all pieces of a job, to or from `device` on.
    ///
    /// The moves come after the work that is queued on the default stream; they are done when this
    /// returns, also when it fails.  At least one other thread has to help with the job.
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
        // Where no slot of an upload has to come back for more, all that is there may go at once,
        // and nobody has to know of single moves, only of the last one.
        let is_quiet = job.task == Task::Upload && job.fits();
        let at_most = if is_quiet { pieces } else { at_least };
        let mut moves = VecDeque::new();
        // Pieces that the device was told to move, whose end it was told to tell, that it has moved.
        let (mut begun, mut announced, mut moved) = (0, 0, 0);
        let mut patience = Patience::default();
        while moved < pieces && !job.is_stopped() {
            let ready = job.may_move(begun, at_most);
            if ready > 0 && ready >= job.side_by_side(begun, at_least) {
                self.begin(current, job, (begun, ready), device)?;
                begun += ready;
                if !is_quiet || begun == pieces {
                    // Has the device say when it is done with the moves that it was told of since.
                    current.record(self.done_with(announced), StreamHandle::DEFAULT)?;
                    moves.push_back(Move { first: announced, end: begun });
                    announced = begun;
                }
            } else if let Some(Move { first, end }) = moves.front()
                && current.is_reached(self.done_with(*first))?
            {
                (moved..*end).for_each(|piece| job.moved(piece));
                moved = *end;
                moves.pop_front();
            } else if begun > moved || !job.help_once() {
                // While the device is busy this thread has to be quick for it.
                patience.wait();
                continue;
            }
            patience = Patience::default();
        }
        // What is left of a download are copies that nobody else has taken.
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

    /// The event of moves that begin with a piece: never more are under way than there are slots.
    fn done_with(&self, piece: usize) -> &Event {
        &self.done[piece % self.done.len()]
    }
}
