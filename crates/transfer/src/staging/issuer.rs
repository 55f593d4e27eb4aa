//! The issuer: the thread that wants a copy has the device move the slots.

use super::helpers::Backoff;
use super::job::Job;
use super::lanes::Lane;
use super::plan::{Moves, Task};
use super::throttle::Throttle;
use super::workers::Crew;
use arrow_cuda_context::{Current, StreamHandle};
use arrow_cuda_driver::{CudaError, CudaResult, Patience};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

pub(super) struct Issuer<'copy> {
    pub(super) current: &'copy Current<'copy>,
    pub(super) job: &'copy Arc<Job>,
    pub(super) crew: Crew<'copy>,
    pub(super) lane: &'copy Lane,
    /// Carries the moves of all jobs in this direction.  The device takes turns between streams so
    /// rarely that one job would hold up another for milliseconds.
    pub(super) stream: StreamHandle<'copy>,
    /// The address on the device.
    pub(super) device: u64,
    pub(super) moves: Moves,
    pub(super) throttle: Throttle<'copy>,
}

#[derive(Default)]
struct Progress {
    /// The pieces below this one are moved, or their move is queued.
    begun: usize,
    moved: usize,
    /// The pieces after queued moves of which events tell the ends.
    ends: VecDeque<usize>,
    /// How many events were recorded.
    recorded: usize,
}

impl Issuer<'_> {
    /// Has the device move all pieces while the crew and this thread copy.
    ///
    /// The moves run after the work that is queued on the default stream, and are complete when
    /// this returns, even after a failure.
    pub(super) fn run(&mut self) -> CudaResult<()> {
        let moved = self.move_all();
        if moved.is_err() || self.job.is_stopped() {
            self.job.stop();
            let waited = self.current.synchronize_stream(self.stream);
            return match moved {
                // Only if the device is done nothing else has happened.
                Err(CudaError::Interrupted) => waited.and(moved),
                _ => moved.and(waited),
            };
        }
        moved
    }

    fn move_all(&mut self) -> CudaResult<()> {
        let job = self.job;
        let mut has_started = self.lane.mark_start(self.current)?;
        if job.task == Task::Upload {
            self.crew.begin(job);
        }
        let (mut progress, mut backoff) = (Progress::default(), Backoff::default());
        let mut patience = Patience::new();
        while progress.moved < job.pieces() && !job.is_stopped() {
            patience.check()?;
            // The host waits for the default stream: on the device, other jobs would wait, too.
            has_started = has_started || self.current.is_reached(&self.lane.start)?;
            let has_begun = has_started && self.begin_move(&mut progress)?;
            let has_moved = self.end_move(&mut progress)?;
            let is_device_busy = progress.begun > progress.moved;
            if has_begun || has_moved || (job.is_worth_helping(is_device_busy) && job.help_once()) {
                backoff = Backoff::default();
            } else {
                backoff.wait();
            }
        }
        // The rest of a download are pieces that no worker has taken.
        while job.has_more() {
            if !job.help_once() {
                backoff.wait(); // another thread was faster
            }
        }
        Ok(())
    }

    /// Queues the next move, if its pieces are ready.
    fn begin_move(&mut self, progress: &mut Progress) -> CudaResult<bool> {
        let Moves { at_least, at_most, in_flight, only_last_matters } = self.moves;
        let (job, begun) = (self.job, progress.begun);
        let on_their_way = begun - progress.moved;
        if on_their_way >= in_flight {
            return Ok(false);
        }
        // If the last move alone matters, nobody knows when the others end.
        if !only_last_matters && !self.throttle.may_begin(on_their_way > 0, Instant::now) {
            return Ok(false);
        }
        let ready = job.ready_pieces(begun, at_most);
        if ready == 0 || ready < job.adjacent_slots(begun, at_least) {
            return Ok(false);
        }
        self.queue(begun, ready)?;
        progress.begun += ready;
        self.throttle.begin(Instant::now());
        if !only_last_matters || progress.begun == job.pieces() {
            self.current.record(self.lane.slots.end(progress.recorded), self.stream)?;
            progress.ends.push_back(progress.begun);
            progress.recorded += 1;
        }
        if begun == 0 && job.task != Task::Upload {
            self.crew.begin(job); // before, there is nothing to copy
        }
        Ok(true)
    }

    /// Notes the end of the first of the queued moves, if it is complete.
    fn end_move(&mut self, progress: &mut Progress) -> CudaResult<bool> {
        let Some(&behind) = progress.ends.front() else { return Ok(false) };
        let event = self.lane.slots.end(progress.recorded - progress.ends.len());
        if !self.current.is_reached(event)? {
            return Ok(false);
        }
        (progress.moved..behind).for_each(|piece| self.job.finish_move(piece));
        progress.moved = behind;
        progress.ends.pop_front();
        self.throttle.end(Instant::now());
        self.crew.grow(self.job);
        Ok(true)
    }

    fn queue(&self, piece: usize, count: usize) -> CudaResult<()> {
        let Self { current, job, stream, .. } = self;
        let ((at, length), slot) = (job.span(piece, count), job.slot(piece));
        let device = self.device + at as u64;
        // SAFETY: the pieces lie within both, and it is the issuer's turn.
        unsafe {
            match job.task {
                Task::Upload => current.queue_copy_from_host(device, slot, length, *stream),
                Task::Download | Task::Compare => {
                    current.queue_copy_to_host(slot, device, length, *stream)
                }
            }
        }
    }
}
