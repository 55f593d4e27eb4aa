//! The pinned memory that a device's copies go through, and the stream that moves it.

use super::job::Job;
use super::plan::Direction;
use crate::HostBuffer;
use arrow_cuda_context::{Context, RawEvent, RawStream};
use arrow_cuda_driver::{CudaResult, call};
use crossbeam_utils::Backoff;
use std::ptr::null_mut;

/// `CU_STREAM_NON_BLOCKING`: ordered with the default stream only where an event says so.
const NON_BLOCKING: u32 = 1;

/// Slots of pinned memory in one allocation, each with an event for when the device is done with
/// it.
#[derive(Debug)]
pub(super) struct Ring {
    context: Context,
    stream: RawStream,
    /// Recorded on the default stream, before each copy.
    earlier: RawEvent,
    pinned: HostBuffer,
    slot_size: usize,
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
            slot_size,
            done: Vec::new(),
        };
        ring.stream = context.create_stream(NON_BLOCKING)?;
        ring.earlier = context.create_event()?;
        for _ in 0..slots {
            ring.done.push(context.create_event()?);
        }
        Ok(ring)
    }

    /// The size of a slot, in bytes.
    pub(super) fn slot_size(&self) -> usize {
        self.slot_size
    }

    /// Where the slots begin.
    pub(super) fn slots(&self) -> Vec<*mut u8> {
        let start = self.pinned.as_ptr();
        (0..self.done.len()).map(|slot| start.wrapping_add(slot * self.slot_size)).collect()
    }

    /// Has the device move all pieces of a job, to or from `device` on.  The context is current.
    ///
    /// The moves come after the work that is queued on the default stream; they are done when this
    /// returns, also when it fails.
    pub(super) fn issue(&mut self, job: &Job, device: u64) -> CudaResult<()> {
        let moved = self.wait_for_earlier_work().and_then(|()| self.move_all(job, device));
        if moved.is_err() {
            job.give_up();
            // SAFETY: a live handle.
            let _first_failure_counts = unsafe { call!(cuStreamSynchronize(self.stream)) };
        }
        moved
    }

    fn wait_for_earlier_work(&self) -> CudaResult<()> {
        // SAFETY: live handles; the null stream is the default one of the current context.
        unsafe {
            call!(cuEventRecord(self.earlier, null_mut()))?;
            call!(cuStreamWaitEvent(self.stream, self.earlier, 0))
        }
    }

    fn move_all(&self, job: &Job, device: u64) -> CudaResult<()> {
        let pieces = job.pieces();
        let (mut begun, mut ended) = (0, 0);
        let mut wait = Backoff::new();
        while ended < pieces {
            if begun < pieces && job.may_issue(begun) {
                self.begin(job, begun, device)?;
                begun += 1;
            } else if ended < begun && self.has_ended(job, ended)? {
                job.issued(ended);
                ended += 1;
            } else if begun > ended || !job.help_once() {
                // While the device is busy this thread has to be quick for it.
                wait.snooze();
                continue;
            }
            wait = Backoff::new();
        }
        // What is left of a download are copies that nobody else has taken.
        while job.help_once() {}
        Ok(())
    }

    fn begin(&self, job: &Job, piece: usize, device: u64) -> CudaResult<()> {
        let ((at, length), (slot, pinned)) = (job.span(piece), job.slot(piece));
        let (device, pinned) = (device + at as u64, pinned.cast());
        // SAFETY: the piece lies within both, and it is the issuer's turn; live handles.
        unsafe {
            match job.direction {
                Direction::Upload => {
                    call!(cuMemcpyHtoDAsync_v2(device, pinned, length, self.stream))
                }
                Direction::Download => {
                    call!(cuMemcpyDtoHAsync_v2(pinned, device, length, self.stream))
                }
            }?;
            call!(cuEventRecord(self.done[slot], self.stream))
        }
    }

    fn has_ended(&self, job: &Job, piece: usize) -> CudaResult<bool> {
        let (slot, _) = job.slot(piece);
        // SAFETY: a live handle.
        unsafe { self.context.is_reached(self.done[slot]) }
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
