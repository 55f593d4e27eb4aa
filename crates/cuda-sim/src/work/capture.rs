//! Streams whose work is captured into a graph, in place of being done, and the calls that must not
//! happen meanwhile.
//!
//! A call that must not happen fails, and invalidates the captures that it conflicts with: these fail when they
//! end.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};

use super::{Order, Queue};
use crate::base::code::{
    Code, ILLEGAL_STATE, INVALID_VALUE, Result, STREAM_CAPTURE_IMPLICIT,
    STREAM_CAPTURE_INVALIDATED, STREAM_CAPTURE_UNSUPPORTED, STREAM_CAPTURE_WRONG_THREAD,
};
use crate::base::lock;

/// Whom a capture keeps from calls that might wait for the device; also what a thread respects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Every thread.
    Global,
    /// The thread that captures.
    ThreadLocal,
    /// Nobody.
    Relaxed,
}

impl Mode {
    pub fn of(number: i32) -> Result<Self> {
        match number {
            0 => Ok(Self::Global),
            1 => Ok(Self::ThreadLocal),
            2 => Ok(Self::Relaxed),
            _ => Err(INVALID_VALUE),
        }
    }
}

#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    None = 0,
    Active = 1,
    Invalidated = 2,
}

struct Capture {
    of: Arc<Queue>,
    by: ThreadId,
    mode: Mode,
    is_valid: bool,
}

impl Capture {
    fn is_of(&self, queue: &Arc<Queue>) -> bool {
        Arc::ptr_eq(&self.of, queue)
    }

    /// Whether work of another queue would implicitly wait for the captured work.
    fn is_followed_by(&self, queue: &Queue) -> bool {
        queue.order == Order::Legacy
            && self.of.order == Order::Blocking
            && self.of.context == queue.context
    }
}

static CAPTURES: Mutex<Vec<Capture>> = Mutex::new(Vec::new());
/// How many there are: usually none, which is found without the lock.
static COUNT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static RESPECTS: Cell<Mode> = const { Cell::new(Mode::Global) };
}

pub fn is_under_way() -> bool {
    COUNT.load(Ordering::Acquire) > 0
}

/// Sets which captures the calling thread respects, and returns what it was.
pub fn exchange_mode(mode: Mode) -> Mode {
    RESPECTS.replace(mode)
}

/// Captures a stream's work from now on.
pub fn begin(of: Arc<Queue>, mode: Mode) -> Result {
    if of.order == Order::Legacy {
        return Err(STREAM_CAPTURE_UNSUPPORTED);
    }
    change(|captures| {
        if captures.iter().any(|capture| capture.is_of(&of)) {
            return Err(ILLEGAL_STATE);
        }
        captures.push(Capture { of, by: thread::current().id(), mode, is_valid: true });
        Ok(())
    })
}

/// Ends a stream's capture.  If it was invalidated, this fails, and the capture has ended.
pub fn end(queue: &Arc<Queue>) -> Result {
    change(|captures| {
        let found = captures.iter().position(|capture| capture.is_of(queue));
        let index = found.ok_or(ILLEGAL_STATE)?;
        let capture = &captures[index];
        if capture.mode != Mode::Relaxed && capture.by != thread::current().id() {
            return Err(STREAM_CAPTURE_WRONG_THREAD);
        }
        match captures.swap_remove(index).is_valid {
            true => Ok(()),
            false => Err(STREAM_CAPTURE_INVALIDATED),
        }
    })
}

/// Forgets the captures of queues that are gone.
pub fn forget(is_gone: impl Fn(&Arc<Queue>) -> bool) {
    if is_under_way() {
        change(|captures| captures.retain(|capture| !is_gone(&capture.of)));
    }
}

/// Fails for the legacy default stream while a blocking stream is captured.
pub fn status(queue: &Arc<Queue>) -> Result<Status> {
    if !is_under_way() {
        return Ok(Status::None);
    }
    let found = lock(&CAPTURES).iter().find_map(|capture| match capture.is_of(queue) {
        true if capture.is_valid => Some(Ok(Status::Active)),
        true => Some(Ok(Status::Invalidated)),
        false if capture.is_followed_by(queue) => Some(Err(STREAM_CAPTURE_IMPLICIT)),
        false => None,
    });
    found.unwrap_or(Ok(Status::None))
}

/// Whether work becomes part of a graph instead of being queued.
pub fn takes_work_of(queue: &Arc<Queue>) -> Result<bool> {
    match status(queue) {
        Ok(Status::None) => Ok(false),
        Ok(Status::Active) => Ok(true),
        Ok(Status::Invalidated) => Err(STREAM_CAPTURE_INVALIDATED),
        Err(code) => refuse(code, |capture| capture.is_followed_by(queue)).map(|()| false),
    }
}

/// Refuses to wait for a stream, or to ask whether its work is done.
pub fn refuse_waiting_for(queue: &Arc<Queue>) -> Result {
    refuse(STREAM_CAPTURE_UNSUPPORTED, |capture| capture.is_of(queue))?;
    refuse(STREAM_CAPTURE_IMPLICIT, |capture| capture.is_followed_by(queue))?;
    refuse_unsafe()
}

/// Refuses what covers all streams of a context, on any thread.
pub fn refuse_in_context(context: u64) -> Result {
    refuse(STREAM_CAPTURE_UNSUPPORTED, |capture| capture.of.context == context)
}

/// Refuses what might wait for the device.
pub fn refuse_unsafe() -> Result {
    let (me, respected) = (thread::current().id(), RESPECTS.get());
    refuse(STREAM_CAPTURE_UNSUPPORTED, |capture| match (respected, capture.mode) {
        (Mode::Relaxed, _) | (_, Mode::Relaxed) => false,
        (Mode::Global, Mode::Global) => true,
        _ => capture.by == me,
    })
}

/// Invalidates a stream's capture, because of work in it that cannot be.
pub fn invalidate(queue: &Arc<Queue>) {
    let _ = refuse(STREAM_CAPTURE_INVALIDATED, |capture| capture.is_of(queue));
}

/// Fails, and invalidates them, if there are captures of which this is true.
fn refuse(code: Code, conflicts: impl Fn(&Capture) -> bool) -> Result {
    if !is_under_way() {
        return Ok(());
    }
    let mut outcome = Ok(());
    for capture in lock(&CAPTURES).iter_mut().filter(|capture| conflicts(capture)) {
        capture.is_valid = false;
        outcome = Err(code);
    }
    outcome
}

fn change<T>(change: impl FnOnce(&mut Vec<Capture>) -> T) -> T {
    let mut captures = lock(&CAPTURES);
    let outcome = change(&mut captures);
    COUNT.store(captures.len(), Ordering::Release);
    outcome
}
