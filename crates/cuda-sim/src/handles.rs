//! Opaque handles of streams, events, modules and functions.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::code::{Code, INVALID_HANDLE};
use crate::window::map;

/// A handle as the C interface carries it: an opaque pointer.
pub type Handle = usize;

/// Bytes between two handles.
const STEP: usize = 16;
/// Bytes of address space for handles: enough for a billion.
const ROOM: u64 = 1 << 34;

/// A handle that no thing has had yet.
///
/// One series for all kinds, never reused: a stale handle, or one of another kind, names nothing.
/// As with a real driver, a handle is the address of readable memory; it holds zeros.
fn next() -> Handle {
    static FIRST: OnceLock<usize> = OnceLock::new();
    static GIVEN: AtomicUsize = AtomicUsize::new(0);
    let first = *FIRST.get_or_init(|| {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // Without such a mapping handles are unreadable, but as good otherwise.
        map(0, ROOM, libc::PROT_READ, flags, -1, 0).unwrap_or(0x5150_0000_0000)
    });
    first + GIVEN.fetch_add(STEP, Ordering::Relaxed)
}

/// Things that the caller names by handles.
pub struct Handles<T>(Mutex<HashMap<Handle, T>>);

impl<T: Clone> Handles<T> {
    pub fn new() -> Self {
        Self(Mutex::default())
    }

    pub fn insert(&self, thing: T) -> Handle {
        let handle = next();
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
