//! Streams.

use crate::{Adopted, Context, Loan, RawStream, Stream};
use arrow_cuda_driver::{CudaError, CudaResult, codes};
use std::sync::Arc;

impl Stream {
    /// A stream of `cust`, which both libraries can use from now on.
    ///
    /// Both share ownership: dropping the last one destroys the stream.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Stream};
    /// use cust::stream::StreamFlags;
    /// use std::sync::Arc;
    ///
    /// let context = Context::primary(0)?;
    /// let current = context.enter()?;
    /// let theirs = Arc::new(cust::stream::Stream::new(StreamFlags::DEFAULT, None).expect("one"));
    /// let ours = Stream::from_cust(&context, Arc::clone(&theirs))?;
    /// assert_eq!(ours.as_raw(), theirs.as_inner().cast());
    /// # Ok::<(), arrow_cuda_driver::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_INVALID_HANDLE` for a stream of another context, or driver errors.
    pub fn from_cust(context: &Context, stream: Arc<cust::stream::Stream>) -> CudaResult<Self> {
        let raw: RawStream = stream.as_inner().cast();
        let owner = Box::new(Adopted::new(context, "a stream of cust", stream));
        // SAFETY: the handle of a live stream, which its owner keeps alive.
        let found = unsafe { Self::borrowed(&[context], raw, owner) }?;
        found.ok_or_else(|| CudaError::of_call("cuStreamGetCtx", codes::INVALID_HANDLE))
    }

    /// The stream for functions of `cust`, such as its `launch!`.
    ///
    /// They work in the thread's current context, so the stream's context must be current:
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let stream = Stream::new(&Context::primary(0)?)?;
    /// let current = stream.context().enter()?;
    /// stream.as_cust().synchronize().expect("nothing has failed");
    /// # Ok::<(), arrow_cuda_driver::CudaError>(())
    /// ```
    pub fn as_cust(&self) -> Loan<'_, cust::stream::Stream> {
        let raw: cust::sys::CUstream = self.as_raw().cast();
        // SAFETY: cust's stream holds its handle and nothing else, which the compiler finds by its
        // size, and the assertion below by its value; any handle is a valid one.
        let stream =
            unsafe { std::mem::transmute::<cust::sys::CUstream, cust::stream::Stream>(raw) };
        let stream = Loan::new(stream);
        assert_eq!(stream.as_inner(), raw, "cust's stream is its handle");
        stream
    }
}
