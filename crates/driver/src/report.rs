//! Failures of destructors, which no return value can carry.

use crate::CudaError;
use crate::held_locks::without_locks;
use std::sync::OnceLock;

/// Receives each release that failed: what should have been released, and why it was not.
pub type Reporter = fn(what: &str, error: &CudaError);

static REPORTER: OnceLock<Reporter> = OnceLock::new();

/// Sets the function that receives failed releases.  Only the first call has an effect.  Without a
/// reporter, failures go to standard error.
pub fn set_reporter(reporter: Reporter) {
    let _already_chosen = REPORTER.set(reporter);
}

/// Reports a failed release: now, or as soon as this thread holds no [`Lock`](crate::Lock), since the
/// reporter may do anything.
pub fn report(what: &str, error: &CudaError) {
    let (what, error) = (what.to_owned(), error.clone());
    without_locks(move || match REPORTER.get() {
        Some(reporter) => reporter(&what, &error),
        None => eprintln!("releasing {what} failed: {error}"),
    });
}

/// Reports the failure in `outcome`, if it is one.
pub fn report_failure(what: &str, outcome: Result<(), CudaError>) {
    if let Err(error) = outcome {
        report(what, &error);
    }
}
