//! Events: points in streams, with the time at which they were reached.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use crate::code::{Answer, Code, INVALID_HANDLE, NOT_READY};
use crate::context::Context;
use crate::handles::lock;
use crate::queue::{Mark, Stream};

pub struct Event {
    pub context: &'static Context,
    has_timing: bool,
    record: Mutex<Option<Record>>,
}

#[derive(Clone)]
struct Record {
    /// All that has to be over.
    marks: Vec<Mark>,
    at: Arc<OnceLock<Instant>>,
}

impl Event {
    pub fn new(context: &'static Context, has_timing: bool) -> Self {
        Self { context, has_timing, record: Mutex::default() }
    }

    /// Marks the end of what the stream has to do now; an earlier record is forgotten.
    pub fn record(&self, stream: &Arc<Stream>) -> Answer {
        let at = Arc::new(OnceLock::new());
        let reached = Arc::clone(&at);
        let mark = stream.submit_quick(move || {
            reached.get_or_init(Instant::now);
            Ok(())
        })?;
        *lock(&self.record) = Some(Record { marks: vec![mark], at });
        Ok(())
    }

    /// Marks the end of what all streams of its context have to do now.  Nobody notes the time.
    pub fn record_all(&self) {
        *lock(&self.record) = Some(Record { marks: self.context.tails(), at: Arc::default() });
    }

    /// Where it was recorded; an event that never was counts as reached.
    pub fn marks(&self) -> Vec<Mark> {
        lock(&self.record).as_ref().map(|record| record.marks.clone()).unwrap_or_default()
    }

    pub fn is_reached(&self) -> bool {
        self.marks().iter().all(Mark::is_reached)
    }

    /// Milliseconds between two events.
    ///
    /// # Errors
    /// `INVALID_HANDLE` for one without timing or record, `NOT_READY` for one not reached.
    pub fn elapsed(start: &Self, end: &Self) -> Result<f32, Code> {
        let (start, end) = (start.time()?, end.time()?);
        let forth = end.saturating_duration_since(start).as_secs_f64();
        let back = start.saturating_duration_since(end).as_secs_f64();
        Ok(((forth - back) * 1e3) as f32)
    }

    fn time(&self) -> Result<Instant, Code> {
        let record = lock(&self.record).clone();
        let record = record.filter(|_| self.has_timing).ok_or(INVALID_HANDLE)?;
        record.at.get().copied().ok_or(NOT_READY)
    }
}
