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

/// A handle that nobody has had.
///
/// Objects of all kinds share one series of handles, so that one of another kind is always recognised.  As
/// with a real driver, a handle is the address of readable memory; it holds zeros.
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

/// Objects of one kind by their handles.  The handle that became free last comes back first, as the address of
/// what a real driver frees.
pub struct Handles<T>(Mutex<Table<T>>);

struct Table<T> {
    used: HashMap<Handle, T>,
    free: Vec<Handle>,
}

impl<T: Clone> Handles<T> {
    pub fn new() -> Self {
        Self(Mutex::new(Table { used: HashMap::new(), free: Vec::new() }))
    }

    pub fn insert(&self, object: T) -> Handle {
        let mut table = lock(&self.0);
        let handle = table.free.pop().unwrap_or_else(next);
        table.used.insert(handle, object);
        handle
    }

    pub fn get(&self, handle: Handle) -> Result<T> {
        lock(&self.0).used.get(&handle).cloned().ok_or(INVALID_HANDLE)
    }

    pub fn remove(&self, handle: Handle) -> Result<T> {
        let mut table = lock(&self.0);
        let object = table.used.remove(&handle).ok_or(INVALID_HANDLE)?;
        table.release(handle);
        Ok(object)
    }

    pub fn count(&self, which: impl Fn(&T) -> bool) -> u64 {
        lock(&self.0).used.values().filter(|object| which(object)).count() as u64
    }

    /// Removes objects.
    pub fn remove_all(&self, which: impl Fn(&T) -> bool) {
        let mut table = lock(&self.0);
        for handle in table.select(which) {
            table.used.remove(&handle);
            table.release(handle);
        }
    }

    /// Frees the handles of objects whose context is gone.  Until a new object takes such a handle, it still
    /// leads to the old one, which says what happened.
    pub fn release(&self, which: impl Fn(&T) -> bool) {
        let mut table = lock(&self.0);
        for handle in table.select(which) {
            table.release(handle);
        }
    }
}

impl<T> Table<T> {
    /// The handles of objects, in the order of their release: the lowest comes back first.
    fn select(&self, which: impl Fn(&T) -> bool) -> Vec<Handle> {
        let selected = self.used.iter().filter(|(_, object)| which(object));
        let mut handles = selected.map(|(&handle, _)| handle).collect::<Vec<_>>();
        handles.sort_unstable_by(|left, right| right.cmp(left));
        handles
    }

    fn release(&mut self, handle: Handle) {
        if !self.free.contains(&handle) {
            self.free.push(handle);
        }
    }
}
