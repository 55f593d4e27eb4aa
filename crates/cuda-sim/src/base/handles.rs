//! Opaque handles of streams, events, modules and functions.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use super::code::{INVALID_HANDLE, Result};
use super::{lock, map};

/// A handle as the C interface carries it: an opaque pointer.
pub type Handle = usize;

const STEP: usize = 16;
/// Bytes of address space for handles: enough for a billion.
const ROOM: u64 = 1 << 34;

/// A new handle.
///
/// Objects of all kinds share one series of handles, and none is used twice, so that a stale handle,
/// or one of another kind, is always recognised.  As with a real driver, a handle is the address of
/// readable memory; it holds zeros.
fn next() -> Handle {
    static FIRST: OnceLock<usize> = OnceLock::new();
    static USED: AtomicUsize = AtomicUsize::new(0);
    let first = *FIRST.get_or_init(|| {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // Without the mapping, handles work too, but cannot be read.
        map(0, ROOM, libc::PROT_READ, flags, -1, 0).unwrap_or(0x5150_0000_0000)
    });
    first + USED.fetch_add(STEP, Ordering::Relaxed)
}

pub struct Handles<T>(Mutex<HashMap<Handle, T>>);

impl<T: Clone> Handles<T> {
    pub fn new() -> Self {
        Self(Mutex::default())
    }

    pub fn insert(&self, object: T) -> Handle {
        let handle = next();
        lock(&self.0).insert(handle, object);
        handle
    }

    pub fn get(&self, handle: Handle) -> Result<T> {
        lock(&self.0).get(&handle).cloned().ok_or(INVALID_HANDLE)
    }

    pub fn remove(&self, handle: Handle) -> Result<T> {
        lock(&self.0).remove(&handle).ok_or(INVALID_HANDLE)
    }

    pub fn count(&self, which: impl Fn(&T) -> bool) -> u64 {
        lock(&self.0).values().filter(|object| which(object)).count() as u64
    }

    pub fn retain(&self, mut keep: impl FnMut(&T) -> bool) {
        lock(&self.0).retain(|_, object| keep(object));
    }
}
