//! Owners of resources that another library has created in a context.

use crate::Context;
use std::fmt;
use std::mem::ManuallyDrop;

/// A resource that `cust` or `cudarc` has created in a context, such as a stream or memory.
///
/// They destroy it in whatever context is current, or leave theirs current, and in any state of the process.  This
/// type drops it as [`Context::release`] does: under the guard of its context, and not at all in a
/// forked child, while the process exits, or when the context is gone.
///
/// ```
/// use arrow_cuda_context::{Adopted, Context};
///
/// # let theirs = ();
/// let owner = Adopted::new(&Context::primary(0)?, "a texture of cust", theirs);
/// std::thread::spawn(move || drop(owner)).join().expect("any thread may drop it");
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
pub struct Adopted<T> {
    context: Context,
    what: &'static str,
    value: ManuallyDrop<T>,
}

impl<T> Adopted<T> {
    /// Owns `value`, which was made in `context`; `what` names it in reports of failures.
    ///
    /// ```
    /// use arrow_cuda_context::{Adopted, Context};
    /// use std::sync::Arc;
    ///
    /// let theirs = Arc::new("a texture");
    /// let owner = Adopted::new(&Context::primary(0)?, "a texture of cust", theirs.clone());
    /// drop(owner); // in its context
    /// assert_eq!(Arc::strong_count(&theirs), 1);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    pub fn new(context: &Context, what: &'static str, value: T) -> Self {
        Self { context: context.clone(), what, value: ManuallyDrop::new(value) }
    }
}

impl<T> Drop for Adopted<T> {
    fn drop(&mut self) {
        let value = &mut self.value;
        self.context.release(self.what, |_| {
            // SAFETY: the value is dropped here only, once.
            unsafe { ManuallyDrop::drop(value) };
            Ok(())
        });
    }
}

impl<T> fmt::Debug for Adopted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Adopted").field("what", &self.what).finish_non_exhaustive()
    }
}
