//! What every other module may use: result codes, handles, locks, and the operating system.

pub mod code;
pub mod fork;
mod handles;
mod mapping;

pub use fork::is_forked;
pub use handles::{Handle, Handles};
pub use mapping::{Mapping, READ_WRITE, map, unmap};

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks `mutex`, poisoned or not: a call that panicked has returned an error, and what it held
/// is still consistent.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
