//! Mutexes that refuse a forked child, and that each thread counts while it holds them.

use crate::codes::NOT_INITIALIZED;
use crate::held_locks::{Held, Kind, holds_short_lock};
use crate::{CudaError, CudaResult, blocking, is_forked_child, waits};
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// A mutex for state that belongs to the driver's process.
///
/// A fork copies a mutex as it is: one that another thread held stays locked in the child for ever.
/// CUDA does not survive a fork either, so this lock refuses the child instead of waiting.  A panic
/// under the lock does not poison it.
///
/// A thread may wait for it while it has the interpreter's lock (Python's GIL).  So whoever holds one
/// neither waits for the interpreter nor runs Python code: [`report`](crate::report) waits until the
/// thread holds no lock, and [`blocking`](crate::blocking) asserts that it does not.  Work that waits
/// for the device needs a [`LongLock`].
///
/// ```
/// use arrow_cuda_driver::{Lock, holds_lock};
///
/// static NUMBERS: Lock<Vec<u32>> = Lock::new(Vec::new());
/// NUMBERS.lock()?.push(7);
/// let numbers = NUMBERS.lock()?;
/// assert!(*numbers == [7] && holds_lock());
/// drop(numbers);
/// assert!(!holds_lock());
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
#[derive(Debug, Default)]
pub struct Lock<T: ?Sized>(Mutex<T>);

/// A [`Lock`] that is held while the driver waits for the device, or takes long.
///
/// A thread waits for it through [`blocking`](crate::blocking), so without the interpreter's lock, for
/// which whoever holds it may therefore wait.  The holder runs no Python code all the same: that code might
/// ask for the lock again.
///
/// ```
/// use arrow_cuda_driver::{LongLock, blocking, holds_lock};
///
/// static TURN: LongLock<()> = LongLock::new(());
/// let turn = TURN.lock()?;
/// assert!(holds_lock());
/// blocking(|| ()); // under a `Lock` this would panic, unless debug assertions are off
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
#[derive(Debug, Default)]
pub struct LongLock<T: ?Sized>(Mutex<T>);

/// Gives access to what a [`Lock`] or a [`LongLock`] protects, until it is dropped.
#[derive(Debug)]
#[must_use = "the lock is held only while this lives"]
pub struct LockGuard<'lock, T: ?Sized> {
    value: MutexGuard<'lock, T>,
    /// Behind the mutex's guard: fields are dropped in order.
    _held: Held,
}

impl<T> Lock<T> {
    /// Wraps a value.
    pub const fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }
}

impl<T: ?Sized> Lock<T> {
    /// Blocks until the lock is free, and takes it.
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_NOT_INITIALIZED` in a forked child.
    pub fn lock(&self) -> CudaResult<LockGuard<'_, T>> {
        check_not_forked()?;
        let value = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(LockGuard { value, _held: Held::count(Kind::Short) })
    }
}

impl<T> LongLock<T> {
    /// Wraps a value.
    pub const fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }
}

impl<T: ?Sized> LongLock<T> {
    /// Blocks until the lock is free, and takes it.  The thread must not hold a [`Lock`].
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_NOT_INITIALIZED` in a forked child.
    pub fn lock(&self) -> CudaResult<LockGuard<'_, T>> {
        debug_assert!(!holds_short_lock(), "a lock for long work, under a lock");
        if let Some(guard) = self.try_lock()? {
            return Ok(guard);
        }
        let value = blocking(|| {
            if cfg!(debug_assertions) {
                // Whoever has it may wait for a device.
                waits::check("a lock for long work");
            }
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        });
        Ok(LockGuard { value, _held: Held::count(Kind::Long) })
    }

    /// Takes the lock if it is free.
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_NOT_INITIALIZED` in a forked child.
    pub fn try_lock(&self) -> CudaResult<Option<LockGuard<'_, T>>> {
        check_not_forked()?;
        let value = match self.0.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(guard)) => guard.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(None),
        };
        Ok(Some(LockGuard { value, _held: Held::count(Kind::Long) }))
    }
}

fn check_not_forked() -> CudaResult<()> {
    if is_forked_child() {
        return Err(CudaError::of_call("cuInit", NOT_INITIALIZED));
    }
    Ok(())
}

impl<T: ?Sized> Deref for LockGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: ?Sized> DerefMut for LockGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}
