//! Reports of failed releases, which run whatever code the reporter is.

use arrow_cuda_driver::{CudaError, Lock, LongLock, holds_lock, report, set_reporter};
use std::sync::atomic::{AtomicUsize, Ordering};

static REPORTS: AtomicUsize = AtomicUsize::new(0);
static LOCK: Lock<()> = Lock::new(());
static LONG: LongLock<()> = LongLock::new(());

#[test]
fn a_reporter_may_take_any_lock() {
    set_reporter(|what, error| {
        assert!(!holds_lock() && LOCK.lock().is_ok() && LONG.lock().is_ok());
        assert_eq!((what, error.code()), ("memory", Some(1)));
        REPORTS.fetch_add(1, Ordering::Relaxed);
    });
    let reports = || REPORTS.load(Ordering::Relaxed);
    let error = CudaError::of_call("cuMemFree_v2", 1);
    report("memory", &error);
    assert_eq!(reports(), 1);
    let (long, short) = (LONG.lock(), LOCK.lock());
    report("memory", &error);
    drop(long);
    assert_eq!(reports(), 1);
    drop(short);
    assert_eq!(reports(), 2);
}
