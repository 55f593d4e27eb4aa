//! Locks: what waits until none is held, and what must not wait under one.

#[cfg(debug_assertions)]
#[path = "common/again.rs"]
mod again;

use arrow_cuda_driver::{Lock, LongLock, blocking, holds_lock, without_locks};
#[cfg(debug_assertions)]
use arrow_cuda_driver::{keeping_interpreter, set_interpreter_check, sys};
use std::cell::Cell;
use std::rc::Rc;
#[cfg(debug_assertions)]
use std::{env, os::unix::process::ExitStatusExt, sync::mpsc, thread, time};

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

/// Names the locks that a child holds while it waits.
#[cfg(debug_assertions)]
const HELD: &str = "TEST_LOCKS_HELD";

#[test]
#[cfg(debug_assertions)]
fn a_wait_for_a_device_under_a_lock_ends_the_process() {
    let child = |held| again::again("waits").env(HELD, held).output().expect("it runs");
    assert!(child("nothing").status.success() && child("long").status.success());
    for (held, wanted) in [
        ("interpreter", "cuCtxSynchronize may wait for a device, and this thread holds the interp"),
        ("short", "cuCtxSynchronize may wait for a device, and this thread holds a lock for short"),
        ("interpreter, then long", "a lock for long work may wait for a device, and this thread"),
    ] {
        let done = child(held);
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.signal(), Some(libc::SIGABRT), "{held}: {said}");
        assert!(said.contains(wanted), "{held}: {said}");
    }
}

#[test]
#[cfg(debug_assertions)]
#[ignore = "run by the other tests, in a process of its own"]
fn waits() {
    static SHORT: Lock<()> = Lock::new(());
    static LONG: LongLock<()> = LongLock::new(());
    // SAFETY: takes no pointer; without a context, it fails.
    let wait = || assert_ne!(unsafe { sys::cuCtxSynchronize() }, 0);
    match env::var(HELD).expect("the other test sets it").as_str() {
        "interpreter" => set_interpreter_check(|| true),
        "short" => std::mem::forget(SHORT.lock()),
        "long" => std::mem::forget(LONG.lock()),
        "interpreter, then long" => {
            let (taken, is_taken) = mpsc::channel();
            thread::spawn(move || {
                let _held = LONG.lock().expect("not forked");
                taken.send(()).expect("the other thread waits");
                thread::sleep(time::Duration::from_secs(60)); // the process ends before
            });
            is_taken.recv().expect("taken");
            set_interpreter_check(|| true);
            keeping_interpreter(|| drop(LONG.lock()));
        }
        _ => {}
    }
    wait();
}
