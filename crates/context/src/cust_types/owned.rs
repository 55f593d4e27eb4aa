//! Owners of resources that `cust` has created in a context.

use crate::Context;
use std::fmt;
use std::mem::ManuallyDrop;

/// A resource that `cust` has created in a context, such as a stream or memory.
///
/// `cust` destroys it in whatever context is current, and in any state of the process.  This type
/// drops it as [`Context::release`] does: under the guard of its context, and not at all in a
/// forked child, while the process exits, or when the context is gone.
pub struct CustOwned<T> {
    context: Context,
    what: &'static str,
    value: ManuallyDrop<T>,
}

impl<T> CustOwned<T> {
    /// Owns `value`, which was made in `context`; `what` names it in reports of failures.
    pub fn new(context: &Context, what: &'static str, value: T) -> Self {
        Self { context: context.clone(), what, value: ManuallyDrop::new(value) }
    }
}

impl<T> Drop for CustOwned<T> {
    fn drop(&mut self) {
        let value = &mut self.value;
        self.context.release(self.what, |_| {
            // SAFETY: the value is dropped here only, once.
            unsafe { ManuallyDrop::drop(value) };
            Ok(())
        });
    }
}

impl<T> fmt::Debug for CustOwned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CustOwned").field("what", &self.what).finish_non_exhaustive()
    }
}
