//! Whether a context can still be used.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use crate::base::code::{CONTEXT_IS_DESTROYED, Code, Result, SUCCESS};

/// The state of a context that its calls check and its work changes.
#[derive(Debug, Default)]
pub struct Health {
    destroyed: AtomicBool,
    /// [`SUCCESS`], or that of the first work that failed.
    error: AtomicI32,
}

impl Health {
    pub fn check(&self) -> Result {
        if self.is_destroyed() {
            return Err(CONTEXT_IS_DESTROYED);
        }
        match self.error() {
            SUCCESS => Ok(()),
            code => Err(code),
        }
    }

    pub fn is_destroyed(&self) -> bool {
        self.destroyed.load(Ordering::Acquire)
    }

    pub fn destroy(&self) {
        self.destroyed.store(true, Ordering::Release);
    }

    pub fn error(&self) -> Code {
        self.error.load(Ordering::Acquire)
    }

    /// Makes every later call on the context return `code`, unless its work failed before: the
    /// first error stays.
    pub fn fail(&self, code: Code) {
        let order = Ordering::AcqRel;
        let _ = self.error.compare_exchange(SUCCESS, code, order, Ordering::Acquire);
    }
}
