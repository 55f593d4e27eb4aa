//! A lock that knows forks.

use crate::codes::NOT_INITIALIZED;
use crate::{CudaError, CudaResult, is_forked_child};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// A mutex for state that belongs to the driver's process.
///
/// A fork copies a mutex as it is: one that another thread held stays locked in the child for ever.
/// CUDA does not survive a fork either, so this lock refuses the child instead of waiting.  A panic
/// under the lock does not poison it.
///
/// ```
/// use arrow_cuda_driver::Lock;
///
/// static NUMBERS: Lock<Vec<u32>> = Lock::new(Vec::new());
/// NUMBERS.lock()?.push(7);
/// assert_eq!(*NUMBERS.lock()?, [7]);
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
#[derive(Debug, Default)]
pub struct Lock<T: ?Sized>(Mutex<T>);

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
    pub fn lock(&self) -> CudaResult<MutexGuard<'_, T>> {
        check_not_forked()?;
        Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes the lock if it is free.
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_NOT_INITIALIZED` in a forked child.
    pub fn try_lock(&self) -> CudaResult<Option<MutexGuard<'_, T>>> {
        check_not_forked()?;
        Ok(match self.0.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(guard)) => Some(guard.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        })
    }
}

fn check_not_forked() -> CudaResult<()> {
    if is_forked_child() {
        return Err(CudaError::of_call("cuInit", NOT_INITIALIZED));
    }
    Ok(())
}
