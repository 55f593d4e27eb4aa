//! Runs work that may block, such as freeing device memory, without the interpreter's lock (Python's GIL).  Tells
//! whether a thread holds that lock.

use crate::held_locks::holds_short_lock;
use crate::interrupt::uninterrupted;
use std::cell::Cell;
use std::sync::OnceLock;

/// Runs a piece of work that may block, once.
pub type Runner = fn(work: &mut dyn FnMut());

static RUNNER: OnceLock<Runner> = OnceLock::new();

/// Sets what runs the blocking work of destructors; the Python extension releases the GIL around
/// it.  Only the first call has an effect.  Without a runner, the work runs directly.
pub fn set_blocking_runner(runner: Runner) {
    let _already_chosen = RUNNER.set(runner);
}

/// Tells whether this thread holds the interpreter's lock.
pub type InterpreterCheck = fn() -> bool;

static CHECK: OnceLock<InterpreterCheck> = OnceLock::new();

/// Sets what tells whether a thread holds the interpreter's lock.  Only the first call has an effect.  Without it, no
/// thread does.
pub fn set_interpreter_check(check: InterpreterCheck) {
    let _already_chosen = CHECK.set(check);
}

/// Whether this thread holds the interpreter's lock, and so must not wait for a device: its work may need that lock.
///
/// ```
/// assert!(!arrow_cuda_driver::holds_interpreter());
/// ```
pub fn holds_interpreter() -> bool {
    CHECK.get().is_some_and(|check| check())
}

thread_local! {
    static KEEPS: Cell<bool> = const { Cell::new(false) };
}

/// Runs work during which [`blocking`] does not give up the interpreter's lock, if this thread has it:
/// its caller relies on that.
///
/// The work must not wait for another thread that may need the interpreter.
///
/// ```
/// use arrow_cuda_driver::{blocking, keeping_interpreter};
///
/// assert_eq!(keeping_interpreter(|| blocking(|| 7)), 7);
/// ```
pub fn keeping_interpreter<T>(work: impl FnOnce() -> T) -> T {
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            KEEPS.set(self.0);
        }
    }
    let _before = Before(KEEPS.replace(true));
    work()
}

/// Whether this thread is in work that keeps the interpreter's lock.
pub(crate) fn keeps_interpreter() -> bool {
    KEEPS.get()
}

/// Runs work that may wait for a device: without the interpreter's lock, if this thread holds it, and otherwise as it
/// is.
///
/// ```
/// assert_eq!(arrow_cuda_driver::without_interpreter(|| 7), 7);
/// ```
pub fn without_interpreter<T>(work: impl FnOnce() -> T) -> T {
    if holds_interpreter() { blocking(work) } else { work() }
}

/// Runs work that may block through the runner that was set.  The runner may give up the interpreter's
/// lock, and wait for it afterwards, so the thread must not hold a [`Lock`](crate::Lock).
pub fn blocking<T>(work: impl FnOnce() -> T) -> T {
    debug_assert!(!holds_short_lock(), "work that may block, under a lock");
    // A destructor must not go on before its wait is over.
    let work = || uninterrupted(work);
    let Some(runner) = RUNNER.get().filter(|_| !KEEPS.get()) else { return work() };
    let mut work = Some(work);
    let mut outcome = None;
    runner(&mut || outcome = work.take().map(|work| work()));
    outcome.expect("a runner runs its work")
}
