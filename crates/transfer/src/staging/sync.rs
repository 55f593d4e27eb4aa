//! Synchronization primitives: the standard library's, or loom's, which tries every order of steps.

#[cfg(all(test, loom))]
use loom as library;
#[cfg(not(all(test, loom)))]
use std as library;

pub(super) use library::{
    hint::spin_loop,
    sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering},
    sync::{Mutex, MutexGuard},
    thread,
};

/// Sleeps until the thread is woken, or for that long.
#[cfg(not(all(test, loom)))]
pub(super) use std::thread::park_timeout as park_for;

/// No thread of a model may miss being woken.
#[cfg(all(test, loom))]
pub(super) fn park_for(_: std::time::Duration) {
    thread::park();
}
