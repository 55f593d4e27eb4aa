//! Synchronization primitives: the standard library's, or loom's, which tries every order of steps.

#[cfg(not(all(test, loom)))]
pub(super) use std::{
    hint::spin_loop,
    sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering},
    sync::{Mutex, OnceLock},
    thread,
};

#[cfg(all(test, loom))]
pub(super) use loom::{
    hint::spin_loop,
    sync::Mutex,
    sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering},
    thread,
};

#[cfg(all(test, loom))]
pub(super) use once_lock::OnceLock;

#[cfg(all(test, loom))]
mod once_lock {
    use super::{AtomicBool, Ordering};

    /// The standard library's, with its effects on other threads in loom's sight.
    #[derive(Debug)]
    pub(in super::super) struct OnceLock<T> {
        value: std::sync::OnceLock<T>,
        is_set: AtomicBool,
    }

    impl<T> Default for OnceLock<T> {
        fn default() -> Self {
            Self { value: std::sync::OnceLock::new(), is_set: AtomicBool::new(false) }
        }
    }

    impl<T> OnceLock<T> {
        pub(in super::super) fn get(&self) -> Option<&T> {
            if self.is_set.load(Ordering::Acquire) { self.value.get() } else { None }
        }

        pub(in super::super) fn get_or_init(&self, value: impl FnOnce() -> T) -> &T {
            let value = self.value.get_or_init(value);
            self.is_set.store(true, Ordering::Release);
            value
        }
    }
}
