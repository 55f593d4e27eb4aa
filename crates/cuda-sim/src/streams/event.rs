//! Events: points in streams, and when they were reached.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use super::Stream;
use crate::base::code::{
    CAPTURED_EVENT, INVALID_HANDLE, NOT_READY, NOT_SUPPORTED, Result, STREAM_CAPTURE_ISOLATION,
};
use crate::base::lock;
use crate::contexts::Context;
use crate::work::{Mark, Queue, capture};

pub struct Event {
    pub context: &'static Context,
    has_timing: bool,
    record: Mutex<Option<Record>>,
}

#[derive(Clone)]
struct Record {
    /// The event is reached when all of these are.
    marks: Vec<Mark>,
    at: Arc<OnceLock<Instant>>,
    /// The stream's queue, if its work was captured.
    captured_on: Option<Arc<Queue>>,
}

impl Event {
    pub fn new(context: &'static Context, has_timing: bool) -> Self {
        Self { context, has_timing, record: Mutex::default() }
    }

    /// Records the end of the stream's work so far, in place of an earlier record.
    pub fn record(&self, stream: &Stream) -> Result {
        let captured_on = stream.captures()?.then(|| Arc::clone(&stream.queue));
        let at = Arc::new(OnceLock::new());
        let reached = Arc::clone(&at);
        let mark = stream.submit_or_run(move || {
            reached.get_or_init(Instant::now);
            Ok(())
        })?;
        *lock(&self.record) = Some(Record { marks: vec![mark], at, captured_on });
        Ok(())
    }

    /// Records the ends of the work so far of all streams of its context, without the time.
    pub fn record_all(&self) {
        let marks = self.context.queues.tails();
        *lock(&self.record) = Some(Record { marks, at: Arc::default(), captured_on: None });
    }

    /// Where it was recorded; nowhere for an event that never was, which counts as reached.
    pub fn marks(&self) -> Vec<Mark> {
        lock(&self.record).as_ref().map(|record| record.marks.clone()).unwrap_or_default()
    }

    /// Holds the stream's later work back until the event is reached.  Fails where the stream would
    /// join another one's capture, and where captured work would wait for other work.
    pub fn hold_back(&self, stream: &Stream) -> Result {
        match (self.captured_on(), stream.captures()?) {
            (Some(queue), _) if Arc::ptr_eq(&queue, &stream.queue) => Ok(()),
            (Some(_), _) => Err(NOT_SUPPORTED),
            (None, true) => {
                capture::invalidate(&stream.queue);
                Err(STREAM_CAPTURE_ISOLATION)
            }
            (None, false) => self.marks().into_iter().try_for_each(|mark| stream.wait_for(mark)),
        }
    }

    /// Refuses to wait for the event, or to ask whether it is reached, because of a
    /// capture.  Invalidates the capture of the event itself.
    pub fn refuse_waiting(&self) -> Result {
        match self.captured_on() {
            None => capture::refuse_unsafe(),
            Some(queue) => {
                capture::invalidate(&queue);
                Err(CAPTURED_EVENT)
            }
        }
    }

    fn captured_on(&self) -> Option<Arc<Queue>> {
        lock(&self.record).as_ref().and_then(|record| record.captured_on.clone())
    }

    pub fn is_reached(&self) -> bool {
        self.marks().iter().all(Mark::is_reached)
    }

    pub fn synchronize(&self) {
        self.marks().iter().for_each(Mark::wait);
    }

    /// Milliseconds between two events.  Fails for one without timing or record, and for one that is
    /// not reached.
    pub fn elapsed(start: &Self, end: &Self) -> Result<f32> {
        let (start, end) = (start.time()?, end.time()?);
        let forth = end.saturating_duration_since(start).as_secs_f64();
        let back = start.saturating_duration_since(end).as_secs_f64();
        Ok(((forth - back) * 1e3) as f32)
    }

    fn time(&self) -> Result<Instant> {
        let record = lock(&self.record).clone();
        let record = record.filter(|_| self.has_timing).ok_or(INVALID_HANDLE)?;
        record.at.get().copied().ok_or(NOT_READY)
    }
}
