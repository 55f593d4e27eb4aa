//! Locks: what waits until none is held, and what must not wait under one.

use arrow_cuda_driver::{Lock, LongLock, blocking, holds_lock, without_locks};
use std::cell::Cell;
use std::rc::Rc;

#[test]
fn tasks_wait_for_the_last_lock() {
    let (one, other) = (Lock::new(1), LongLock::new(2));
    let runs = Rc::new(Cell::new(0));
    let count = || {
        let runs = runs.clone();
        without_locks(move || {
            assert!(!holds_lock());
            runs.set(runs.get() + 1);
        });
    };
    count();
    assert_eq!(runs.get(), 1);
    let outer = other.lock().expect("not forked");
    let inner = one.lock().expect("not forked");
    count();
    count();
    drop(outer);
    assert_eq!((runs.get(), *inner), (1, 1));
    drop(inner);
    assert_eq!(runs.get(), 3);
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "under a lock")]
fn nothing_blocks_under_a_lock() {
    let lock = Lock::new(());
    let _guard = lock.lock();
    blocking(|| ());
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "under a lock")]
fn a_long_lock_is_the_outer_one() {
    let (lock, long) = (Lock::new(()), LongLock::new(()));
    let _guard = lock.lock();
    drop(long.lock());
}
