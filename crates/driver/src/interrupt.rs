//! Waits and copies that a signal may end.
//!
//! A call of the driver that waits cannot be interrupted.  So the thread that runs signal handlers asks the driver
//! again and again whether the work is complete, and looks for signals in between.  It gives up only if no transfer
//! still uses memory that the thread must keep valid.

use crate::held_locks::holds_lock;
use crate::{CudaError, CudaResult};
use std::any::Any;
use std::cell::Cell;
use std::panic::{catch_unwind, resume_unwind};
use std::thread;
use std::time::{Duration, Instant};

/// Tells whether to give up, since a signal has arrived.  A panic also ends the work, and goes on after it.
pub type Check = fn() -> bool;

/// Work that may be ended.
#[derive(Clone, Copy, Debug)]
pub enum Interruption {
    /// Waits for work that others have queued.  The check may run handlers, and so Python code: whoever
    /// waits uses nothing afterwards that such code could take away.
    Waits(Check),
    /// Copies, between two of their pieces, and before the first one: if the device is busy with other
    /// work for long, the copy ends before it has begun.  The check runs no Python code, which could take
    /// away the memory on the host.
    Copies(Check),
    /// Copies, between two of their pieces only.
    Pieces(Check),
}

thread_local! {
    static ALLOWED: Cell<Option<Interruption>> = const { Cell::new(None) };
    static HAS_ENDED: Cell<bool> = const { Cell::new(false) };
    /// Of a check.
    static PANIC: Cell<Option<Box<dyn Any + Send>>> = const { Cell::new(None) };
}

/// So long a thread asks without a pause, as the driver itself waits.
const SHORT: Duration = Duration::from_millis(10);
/// How often to look for signals: that takes Python's GIL, for which others may make the thread wait.
const INTERVAL: Duration = Duration::from_millis(50);
/// A pause is one part in this many of the time that has passed.  So a wait ends late by at most that fraction.
const PAUSE_DIVISOR: u32 = 100;
const LONGEST_PAUSE: Duration = Duration::from_millis(1);

/// Sets what may be ended until it is dropped.
struct Setting {
    allowed: Option<Interruption>,
    has_ended: bool,
}

impl Setting {
    fn set(allowed: Option<Interruption>) -> Self {
        Self { allowed: ALLOWED.replace(allowed), has_ended: HAS_ENDED.replace(false) }
    }
}

impl Drop for Setting {
    fn drop(&mut self) {
        ALLOWED.set(self.allowed);
        HAS_ENDED.set(self.has_ended);
    }
}

/// Runs work that may be ended on this thread; `None` if it was, whatever its result.
///
/// Work under a [`Lock`](crate::Lock) or a [`LongLock`](crate::LongLock), and
/// [`blocking`](crate::blocking) work, is never ended.
///
/// ```
/// use arrow_cuda_driver::{CudaError, Interruption, Patience, interruptible};
///
/// let mut asked = 0;
/// let waited = interruptible(Interruption::Waits(|| true), || {
///     let mut patience = Patience::new();
///     let mut is_complete = || {
///         asked += 1;
///         false // the device is not done yet
///     };
///     while !patience.take_turn(&mut is_complete) {
///         patience.check()?;
///     }
///     Ok::<_, CudaError>(())
/// });
/// assert!(waited.is_none() && asked > 0);
/// ```
pub fn interruptible<T>(allowed: Interruption, work: impl FnOnce() -> T) -> Option<T> {
    let _restored = Setting::set(Some(allowed));
    let outcome = work();
    if let Some(panic) = PANIC.take() {
        resume_unwind(panic);
    }
    if HAS_ENDED.get() { None } else { Some(outcome) }
}

/// Runs work that no signal ends, within work that one may end.
pub fn uninterrupted<T>(work: impl FnOnce() -> T) -> T {
    let _restored = Setting::set(None);
    work()
}

/// How long one operation of a thread has taken, and when it looks for signals next.
#[derive(Debug)]
pub struct Patience {
    /// None where nothing may end.
    allowed: Option<(Interruption, Instant)>,
    next_check: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self::new()
    }
}

impl Patience {
    /// For an operation that begins now.
    pub fn new() -> Self {
        let allowed = ALLOWED.get().filter(|_| !holds_lock());
        Self { allowed: allowed.map(|allowed| (allowed, Instant::now())), next_check: INTERVAL }
    }

    /// Whether a signal may end waits for what others have queued.
    pub fn ends_waits(&self) -> bool {
        matches!(self.allowed, Some((Interruption::Waits(_), _)))
    }

    /// Whether a signal may end a copy between two pieces.
    pub fn ends_copies(&self) -> bool {
        matches!(self.allowed, Some((Interruption::Copies(_) | Interruption::Pieces(_), _)))
    }

    /// Looks for signals if it is time to.  Costs next to nothing otherwise.
    ///
    /// # Errors
    ///
    /// [`CudaError::Interrupted`] if the operation is to end.
    pub fn check(&mut self) -> CudaResult<()> {
        let Some((allowed, began)) = self.allowed else { return Ok(()) };
        if began.elapsed() < self.next_check {
            return Ok(());
        }
        let check = || match allowed {
            Interruption::Waits(check) => uninterrupted(check),
            Interruption::Copies(check) | Interruption::Pieces(check) => check(),
        };
        // It must not pass those who have to wait for the device before they give memory up.
        let is_over = catch_unwind(check).unwrap_or_else(|panic| {
            PANIC.set(Some(panic));
            true
        });
        self.next_check = began.elapsed() + INTERVAL;
        if is_over { Err(ended()) } else { Ok(()) }
    }

    /// Polls `is_complete` until it returns true, or until it is time to check for signals.  Returns its
    /// last answer.
    ///
    /// Handlers may do anything with contexts and handles, so the caller looks them up anew after a
    /// [`check`](Self::check).
    pub fn take_turn(&self, mut is_complete: impl FnMut() -> bool) -> bool {
        if self.poll(&mut is_complete) {
            return true;
        }
        let began = Instant::now();
        while !is_complete() {
            let waited = SHORT + began.elapsed();
            if waited >= INTERVAL {
                return false;
            }
            thread::sleep((waited / PAUSE_DIVISOR).min(LONGEST_PAUSE));
        }
        true
    }

    /// Whether it `is_complete` within the time that counts as short.
    pub fn poll(&self, mut is_complete: impl FnMut() -> bool) -> bool {
        let (began, mut asked) = (Instant::now(), 0u32);
        loop {
            if is_complete() {
                return true;
            }
            if began.elapsed() >= SHORT {
                return false;
            }
            asked += 1;
            if asked > 100 {
                thread::yield_now();
            }
        }
    }

    /// Before a copy begins, waits until the device `is_complete` with other work, if signals may end the
    /// copy.  Returns whether it is; otherwise the wait is left to the caller.
    ///
    /// # Errors
    ///
    /// [`CudaError::Busy`] if that takes more than a short time, and the copy may end then;
    /// [`CudaError::Interrupted`] if it is to end.
    pub fn await_turn(&mut self, is_complete: impl FnMut() -> bool) -> CudaResult<bool> {
        let has_not_begun = matches!(self.allowed, Some((Interruption::Copies(_), _)));
        self.await_end(is_complete).map_err(|error| match has_not_begun {
            true => CudaError::Busy,
            false => error,
        })
    }

    /// Behind a copy that was queued, waits until the device `is_complete` with it, if signals may end
    /// copies.  Returns whether it is; otherwise the wait is left to the caller.
    ///
    /// # Errors
    ///
    /// [`CudaError::Interrupted`] if that takes more than a short time, and copies may end before they
    /// begin, or if it is to end.  The copy stays queued.
    pub fn await_end(&mut self, mut is_complete: impl FnMut() -> bool) -> CudaResult<bool> {
        match self.allowed {
            None | Some((Interruption::Waits(_), _)) => Ok(false),
            Some((Interruption::Copies(_), _)) if self.poll(&mut is_complete) => Ok(true),
            Some((Interruption::Copies(_), _)) => Err(ended()),
            Some((Interruption::Pieces(_), _)) => {
                while !self.take_turn(&mut is_complete) {
                    self.check()?;
                }
                Ok(true)
            }
        }
    }
}

fn ended() -> CudaError {
    HAS_ENDED.set(true);
    CudaError::Interrupted
}
