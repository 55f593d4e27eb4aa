//! Calls of destructors that may block: freeing device memory waits for the device.

use std::sync::OnceLock;

/// Runs a piece of work that may block, once.
pub type Runner = fn(work: &mut dyn FnMut());

static RUNNER: OnceLock<Runner> = OnceLock::new();

/// Chooses how blocking work in destructors is run; Python gives its global lock up around it.
/// The first choice stays; without one the work is simply run.
pub fn set_blocking_runner(runner: Runner) {
    let _already_chosen = RUNNER.set(runner);
}

/// Runs work that may block, in the chosen way.
pub fn blocking<T>(work: impl FnOnce() -> T) -> T {
    let Some(runner) = RUNNER.get() else { return work() };
    let mut work = Some(work);
    let mut outcome = None;
    runner(&mut || outcome = work.take().map(|work| work()));
    outcome.expect("a runner runs its work")
}
