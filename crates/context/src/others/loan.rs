//! One of our resources in the form that functions of another library take.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;

/// One of our resources as a type of another library, which can use it by a shared reference, and so can neither
/// destroy it nor exchange it for another one.  A type that can be copied does not belong here: copies outlive the
/// resource.
///
/// ```
/// use arrow_cuda_context::{Context, Loan, Stream};
///
/// let ours = Stream::new(&Context::primary(0)?)?;
/// let theirs: Loan<'_, cust::stream::Stream> = ours.as_cust();
/// assert_eq!(theirs.as_inner().cast(), ours.as_raw());
/// drop(theirs);
/// ours.synchronize()?; // it is still there
/// # Ok::<(), arrow_cuda_context::CudaError>(())
/// ```
#[derive(Debug)]
pub struct Loan<'ours, T>(ManuallyDrop<T>, PhantomData<&'ours ()>);

impl<T> Loan<'_, T> {
    /// Lends what must not be dropped.  The caller limits the lifetime to that of the resource.
    ///
    /// ```
    /// use arrow_cuda_context::Loan;
    /// use std::sync::Arc;
    ///
    /// let ours = Arc::new(7);
    /// drop(Loan::new(ours.clone()));
    /// assert_eq!(Arc::strong_count(&ours), 2); // what was lent is not dropped
    /// ```
    pub fn new(value: T) -> Self {
        Self(ManuallyDrop::new(value), PhantomData)
    }
}

impl<T> Deref for Loan<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}
