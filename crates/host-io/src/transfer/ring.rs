//! The pinned memory that a device's copies go through, and how the device moves it.

use super::job::{Job, Task};
use super::patience::Patience;
use crate::HostBuffer;
use arrow_cuda_context::{Context, DEFAULT_STREAM, RawEvent};
use arrow_cuda_driver::{CudaResult, call};
use std::collections::VecDeque;

/// Less is not worth a call of its own, nor the time that the device needs to begin with it.
const SMALLEST_MOVE: usize = 256 << 10;

/// Slots of pinned memory in one allocation, with as many events for when the device is done.
#[derive(Debug)]
pub(super) struct Ring {
    context: Context,
    pinned: HostBuffer,
    done: Vec<RawEvent>,
}

/// Pieces that the device moves, and that are waited for together.
struct Move {
    /// The first piece, whose event tells of the end of all.
    first: usize,
    /// The first piece that is not among them.
    end: usize,
}

// SAFETY: any thread may use the handles; one at a time does, since `issue` needs the ring alone.
unsafe impl Send for Ring {}

impl Ring {
    pub(super) fn new(context: &Context, slots: usize, slot_size: usize) -> CudaResult<Self> {
        let pinned = HostBuffer::allocate(context, slots * slot_size)?;
        // From here on a failure gives back what there is.
        let mut ring = Self { context: context.clone(), pinned, done: Vec::new() };
        for _ in 0..slots {
            ring.done.push(context.create_event()?);
        }
        Ok(ring)
    }

    /// Gives it back, unless it has gone with its context: then its addresses are somebody else's.
    pub(super) fn release(self) {
        if self.context.is_gone() {
            std::mem::forget(self);
        }
    }

    /// Where the slots begin.
    pub(super) fn slots(&self) -> *mut u8 {
        self.pinned.as_ptr()
    }

    /// Has the device move all pieces of a job, to or from `device` on.  The context is current.
    ///
    /// The moves come after the work that is queued on the default stream; they are done when this
    /// returns, also when it fails.  At least one other thread has to help with the job.
    pub(super) fn issue(&mut self, job: &Job, device: u64) -> CudaResult<()> {
        let moved = self.move_all(job, device);
        if moved.is_err() || job.is_stopped() {
            job.stop();
            // SAFETY: the default stream of the current context.
            let ended = unsafe { call!(cuStreamSynchronize(DEFAULT_STREAM)) };
            return moved.and(ended);
        }
        moved
    }

    fn move_all(&self, job: &Job, device: u64) -> CudaResult<()> {
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
                self.begin(job, begun, ready, device)?;
                begun += ready;
                if !is_quiet || begun == pieces {
                    self.announce(announced)?;
                    moves.push_back(Move { first: announced, end: begun });
                    announced = begun;
                }
            } else if let Some(Move { first, end }) = moves.front()
                && self.is_over(*first)?
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

    fn begin(&self, job: &Job, piece: usize, count: usize, device: u64) -> CudaResult<()> {
        let ((at, length), pinned) = (job.span(piece, count), job.slot(piece).cast());
        let device = device + at as u64;
        // SAFETY: the pieces lie within both, and it is the issuer's turn; live handles.
        unsafe {
            match job.task {
                Task::Upload => call!(cuMemcpyHtoDAsync_v2(device, pinned, length, DEFAULT_STREAM)),
                Task::Download | Task::Compare => {
                    call!(cuMemcpyDtoHAsync_v2(pinned, device, length, DEFAULT_STREAM))
                }
            }
        }
    }

    /// Has the device say when it is done with the moves that it was told of since, the first of
    /// which begins with a piece.
    fn announce(&self, piece: usize) -> CudaResult<()> {
        // SAFETY: live handles.
        unsafe { call!(cuEventRecord(self.done_with(piece), DEFAULT_STREAM)) }
    }

    /// The event of moves that begin with a piece: never more are under way than there are slots.
    fn done_with(&self, piece: usize) -> RawEvent {
        self.done[piece % self.done.len()]
    }

    fn is_over(&self, piece: usize) -> CudaResult<bool> {
        // SAFETY: a live handle.
        unsafe { self.context.is_reached(self.done_with(piece)) }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        for event in self.done.drain(..) {
            // SAFETY: made in `new`, and not used any more.
            unsafe { self.context.destroy_event(event) };
        }
    }
}
