//! Waits and copies that a signal may end.

use arrow_cuda_driver::{
    CudaError, CudaResult, Interruption, Lock, LongLock, Patience, blocking, interruptible,
};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

fn may_end() -> bool {
    Patience::new().ends_waits()
}

#[test]
fn only_what_asks_for_it_may_end() {
    assert!(!may_end());
    let ended = interruptible(Interruption::Waits(|| false), || {
        assert!(may_end());
        assert!(!blocking(may_end));
        let (lock, long) = (Lock::new(()), LongLock::new(()));
        let guard = lock.lock();
        assert!(!may_end());
        drop(guard);
        let guard = long.lock();
        assert!(!may_end());
        drop(guard);
        assert!(may_end());
    });
    assert!(ended.is_some() && !may_end());
}

fn wait_until(mut is_complete: impl FnMut() -> bool) -> CudaResult<()> {
    let mut patience = Patience::new();
    while !patience.take_turn(&mut is_complete) {
        patience.check()?;
    }
    Ok(())
}

#[test]
fn a_handler_is_not_ended_itself() {
    let check = || !may_end();
    let waited = interruptible(Interruption::Waits(check), || {
        assert_eq!(wait_until(|| false), Err(CudaError::Interrupted));
    });
    assert_eq!(waited, None);
}

#[test]
fn a_wait_goes_on_behind_handlers() {
    thread_local!(static CHECKED: Cell<u32> = const { Cell::new(0) });
    let check = || {
        CHECKED.set(CHECKED.get() + 1);
        false
    };
    let wait = || wait_until(|| CHECKED.get() == 3);
    assert_eq!(interruptible(Interruption::Waits(check), wait), Some(Ok(())));
}

#[test]
fn a_copy_does_not_begin_while_the_device_is_busy() {
    let begin = || Patience::new().await_turn(|| false);
    assert_eq!(begin(), Ok(false));
    assert_eq!(interruptible(Interruption::Pieces(|| true), begin), None);
    assert_eq!(interruptible(Interruption::Copies(|| false), begin), None);
    let begin = || Patience::new().await_turn(|| true);
    for allowed in [Interruption::Copies(|| true), Interruption::Pieces(|| true)] {
        assert_eq!(interruptible(allowed, begin), Some(Ok(true)));
    }
}

#[test]
fn a_copy_ends_between_pieces() {
    let copy = || {
        let mut patience = Patience::new();
        while patience.check().is_ok() {}
    };
    assert_eq!(interruptible(Interruption::Pieces(|| true), copy), None);
}

#[test]
fn a_panic_of_a_check_goes_on_when_the_work_has_ended() {
    let mut outcome = None;
    let copy = || {
        let mut patience = Patience::new();
        while outcome.is_none() {
            outcome = patience.check().err();
        }
    };
    let allowed = Interruption::Pieces(|| panic!("a bug in the check"));
    let panicked = catch_unwind(AssertUnwindSafe(|| interruptible(allowed, copy)));
    assert_eq!(panicked.expect_err("it goes on").downcast_ref(), Some(&"a bug in the check"));
    assert_eq!(outcome, Some(CudaError::Interrupted), "whoever copies may have to wait");
    assert!(interruptible(Interruption::Pieces(|| true), || ()).is_some(), "it is over");
}
