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
    mark: Mark,
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
        *lock(&self.record) = Some(Record { mark, at });
        Ok(())
    }

    /// Where it was recorded; an event that never was counts as reached.
    pub fn mark(&self) -> Option<Mark> {
        lock(&self.record).as_ref().map(|record| record.mark.clone())
    }

    pub fn is_reached(&self) -> bool {
        self.mark().is_none_or(|mark| mark.is_reached())
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
