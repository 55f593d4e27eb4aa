//! Failures that nobody can be told by a return value: those of destructors.

use crate::CudaError;
use std::sync::OnceLock;

/// Hears of a release that failed: what was released, and why it failed.
pub type Reporter = fn(what: &str, error: &CudaError);

static REPORTER: OnceLock<Reporter> = OnceLock::new();

/// Chooses who hears of failed releases.  The first choice stays; without one they are written
/// to standard error.
pub fn set_reporter(reporter: Reporter) {
    let _already_chosen = REPORTER.set(reporter);
}

/// Reports a failed release.
pub fn report(what: &str, error: &CudaError) {
    match REPORTER.get() {
        Some(reporter) => reporter(what, error),
        None => eprintln!("releasing {what} failed: {error}"),
    }
}

/// Reports the failure in `outcome`, if it is one.
pub fn report_failure(what: &str, outcome: Result<(), CudaError>) {
    if let Err(error) = outcome {
        report(what, &error);
    }
}
