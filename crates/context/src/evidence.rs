//! Whether work that could still touch released memory is over.
//!
//! The driver's own release waits for all work of the device.  Here nothing waits: an event that
//! covers all streams of the context tells when that work is over, those of other libraries and
//! those that are not ordered with the default stream included (seen on an H200).

use crate::codes::DISABLE_TIMING;
use arrow_cuda_driver::{CudaResult, call, may_release, report_failure};
use std::collections::VecDeque;
use std::ffi::c_void;

/// More points than that need not be told apart: a later one covers all that was before it.
const MOST_POINTS: usize = 8;
/// What the driver answers while some stream captures a graph: waiting would spoil it.
const CAPTURING: std::ops::RangeInclusive<i32> = 900..=908;

/// Points in the context's work, each later than some releases.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    points: VecDeque<Point>,
    /// Events to be recorded anew.
    spare: Vec<usize>,
}

#[derive(Debug)]
struct Point {
    event: usize,
    /// The number of the last release before it.
    after: u64,
}

impl Evidence {
    /// The number of a release: the work that could touch what was released until then is over.
    /// `released` is the number of the last one so far.
    ///
    /// The one place that decides when memory may be handed out again.  `context` must be current.
    /// A failure of the driver proves nothing, so nothing is handed out on it.
    pub(crate) fn over_up_to(&mut self, context: *mut c_void, released: u64) -> u64 {
        let is_new = self.points.back().is_none_or(|last| last.after < released);
        if is_new && self.points.len() < MOST_POINTS {
            match self.mark(context, released) {
                Ok(()) => {}
                Err(error) if error.code().is_some_and(|code| CAPTURING.contains(&code)) => {}
                // A driver that is older than CUDA 12.5 has no such events, and has to be waited for.
                // SAFETY: takes no pointer; the context is current.
                Err(_) if unsafe { call!(cuCtxSynchronize()) }.is_ok() => return released,
                Err(_) => return 0,
            }
        }
        let mut over = 0;
        // The latest first: mostly nothing is under way, and it covers all others.
        let reached = self.points.iter().rposition(Point::is_reached);
        for point in self.points.drain(..reached.map_or(0, |last| last + 1)) {
            over = point.after;
            self.spare.push(point.event);
        }
        over
    }

    /// Has the context tell when all that it has to do now is done.
    fn mark(&mut self, context: *mut c_void, after: u64) -> CudaResult<()> {
        let event = self.spare.pop().map_or_else(new_event, Ok)?;
        // SAFETY: a live event of the current context.
        let recorded = unsafe { call!(cuCtxRecordEvent(context, event as *mut c_void)) };
        match recorded {
            Ok(()) => self.points.push_back(Point { event, after }),
            Err(_) => self.spare.push(event),
        }
        recorded
    }

    /// Gives the events back.  The context must be current.
    pub(crate) fn give_up(self) {
        let points = self.points.into_iter().map(|point| point.event);
        for event in points.chain(self.spare) {
            if may_release() {
                // SAFETY: a live event, which nobody else has.
                let destroyed = unsafe { call!(cuEventDestroy_v2(event as *mut c_void)) };
                report_failure("an event", destroyed);
            }
        }
    }

    /// Forgets the events: they went with their context.
    pub(crate) fn abandon(&mut self) {
        self.points.clear();
        self.spare.clear();
    }
}

impl Point {
    fn is_reached(&self) -> bool {
        // SAFETY: a live event, which goes only with the evidence.
        unsafe { call!(cuEventQuery(self.event as *mut c_void)) }.is_ok()
    }
}

fn new_event() -> CudaResult<usize> {
    let mut event: *mut c_void = std::ptr::null_mut();
    // SAFETY: stores a handle through the pointer, which outlives the call.
    unsafe { call!(cuEventCreate((&raw mut event).cast(), DISABLE_TIMING)) }?;
    Ok(event as usize)
}
