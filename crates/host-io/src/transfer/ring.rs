//! The pinned memory that a device's copies go through, and the stream that moves it.

use super::job::{Job, Task};
use super::patience::Patience;
use crate::HostBuffer;
use arrow_cuda_context::{Context, RawEvent, RawStream};
use arrow_cuda_driver::{CudaResult, call};
use std::collections::VecDeque;
use std::ptr::null_mut;

/// `CU_STREAM_NON_BLOCKING`: ordered with the default stream only where an event says so.
const NON_BLOCKING: u32 = 1;

/// Less is not worth a call of its own, nor the time that the device needs to begin with it.
const SMALLEST_MOVE: usize = 256 << 10;

/// Slots of pinned memory in one allocation, with as many events for when the device is done.
#[derive(Debug)]
pub(super) struct Ring {
    context: Context,
    stream: RawStream,
    /// Recorded on the default stream, before each copy.
    earlier: RawEvent,
    pinned: HostBuffer,
    done: Vec<RawEvent>,
}

// SAFETY: any thread may use the handles; one at a time does, since `issue` needs the ring alone.
unsafe impl Send for Ring {}

impl Ring {
    pub(super) fn new(context: &Context, slots: usize, slot_size: usize) -> CudaResult<Self> {
        let pinned = HostBuffer::allocate(context, slots * slot_size)?;
        // From here on a failure gives back what there is.
        let mut ring = Self {
            context: context.clone(),
            stream: null_mut(),
            earlier: null_mut(),
            pinned,
            done: Vec::new(),
        };
        ring.stream = context.create_stream(NON_BLOCKING)?;
        ring.earlier = context.create_event()?;
        for _ in 0..slots {
            ring.done.push(context.create_event()?);
        }
        Ok(ring)
    }

    /// Where the slots begin.
    pub(super) fn slots(&self) -> *mut u8 {
        self.pinned.as_ptr()
    }

    /// Has the device move all pieces of a job, to or from `device` on.  The context is current.
    ///
    /// The moves come after the work that is queued on the default stream; they are done when this
    /// returns, also when it fails.
    pub(super) fn issue(&mut self, job: &Job, device: u64) -> CudaResult<()> {
        let moved = self.wait_for_earlier_work().and_then(|()| self.move_all(job, device));
        if moved.is_err() || job.is_stopped() {
            job.stop();
            // SAFETY: a live handle.
            let ended = unsafe { call!(cuStreamSynchronize(self.stream)) };
            return moved.and(ended);
        }
        moved
    }

    fn wait_for_earlier_work(&self) -> CudaResult<()> {
        // An event would cost the device more than the question costs this thread.
        if !self.context.is_default_stream_busy()? {
            return Ok(());
        }
        // SAFETY: live handles; the null stream is the default one of the current context.
        unsafe {
            call!(cuEventRecord(self.earlier, null_mut()))?;
            call!(cuStreamWaitEvent(self.stream, self.earlier, 0))
        }
    }

    fn move_all(&self, job: &Job, device: u64) -> CudaResult<()> {
        let pieces = job.pieces();
        let at_least = SMALLEST_MOVE.div_ceil(job.piece());
        // Where no slot of an upload has to come back for more, all that is there may go at once,
        // and nobody has to know of single moves, only of the last one.
        let is_quiet = job.task == Task::Upload && job.fits();
        let at_most = if is_quiet { pieces } else { at_least };
        // Where moves begin and end that the device has not done yet.
        let mut moves = VecDeque::new();
        let (mut begun, mut announced, mut ended) = (0, 0, 0);
        let mut patience = Patience::default();
        while ended < pieces && !job.is_stopped() {
            let ready = job.may_issue(begun, at_most);
            if ready > 0 && ready >= job.side_by_side(begun, at_least) {
                self.begin(job, begun, ready, device)?;
                begun += ready;
                if !is_quiet || begun == pieces {
                    self.announce(announced)?;
                    moves.push_back((announced, begun));
                    announced = begun;
                }
            } else if let Some(&(first, end)) = moves.front()
                && self.has_ended(first)?
            {
                (ended..end).for_each(|piece| job.issued(piece));
                ended = end;
                moves.pop_front();
            } else if begun > ended || !job.help_once() {
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
                Task::Upload => call!(cuMemcpyHtoDAsync_v2(device, pinned, length, self.stream)),
                Task::Download | Task::Compare => {
                    call!(cuMemcpyDtoHAsync_v2(pinned, device, length, self.stream))
                }
            }
        }
    }

    /// Has the device say when it is done with the moves that it was told of since, the first of
    /// which begins with a piece.
    fn announce(&self, piece: usize) -> CudaResult<()> {
        // SAFETY: live handles.
        unsafe { call!(cuEventRecord(self.done_with(piece), self.stream)) }
    }

    /// The event of moves that begin with a piece: never more are under way than there are slots.
    fn done_with(&self, piece: usize) -> RawEvent {
        self.done[piece % self.done.len()]
    }

    fn has_ended(&self, piece: usize) -> CudaResult<bool> {
        // SAFETY: a live handle.
        unsafe { self.context.is_reached(self.done_with(piece)) }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        for event in self.done.drain(..).chain([self.earlier]).filter(|event| !event.is_null()) {
            // SAFETY: made in `new`, and not used any more.
            unsafe { self.context.destroy_event(event) };
        }
        if !self.stream.is_null() {
            // SAFETY: as above.
            unsafe { self.context.destroy_stream(self.stream) };
        }
    }
}
