//! Synchronization primitives: the standard library's, or loom's, which tries every order of steps.

#[cfg(not(all(test, loom)))]
pub(super) use std::{
    hint::spin_loop,
    sync::Mutex,
    sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering},
    thread,
};

#[cfg(all(test, loom))]
pub(super) use loom::{
    hint::spin_loop,
    sync::Mutex,
    sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering},
    thread,
};
