//! Opaque handles of streams, events, modules and functions.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::code::{Code, INVALID_HANDLE};

/// A handle as the C interface carries it: an opaque pointer.
pub type Handle = usize;

/// Things that the caller names by handles.
pub struct Handles<T>(Mutex<HashMap<Handle, T>>);

impl<T: Clone> Handles<T> {
    pub fn new() -> Self {
        Self(Mutex::default())
    }

    pub fn insert(&self, thing: T) -> Handle {
        // One series for all kinds, never reused: a stale handle, or one of another kind,
        // names nothing.
        static NEXT: AtomicUsize = AtomicUsize::new(0x5150_0000_0000);
        let handle = NEXT.fetch_add(16, Ordering::Relaxed);
        lock(&self.0).insert(handle, thing);
        handle
    }

    pub fn get(&self, handle: Handle) -> Result<T, Code> {
        lock(&self.0).get(&handle).cloned().ok_or(INVALID_HANDLE)
    }

    pub fn remove(&self, handle: Handle) -> Result<T, Code> {
        lock(&self.0).remove(&handle).ok_or(INVALID_HANDLE)
    }

    /// Forgets what `keep` does not want.
    pub fn retain(&self, mut keep: impl FnMut(&T) -> bool) {
        lock(&self.0).retain(|_, thing| keep(thing));
    }
}

/// Locks; a panic elsewhere was answered with an error and does not spoil what it held.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
