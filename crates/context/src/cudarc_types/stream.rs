//! Streams.

use crate::{Adopted, Context, RawStream, Stream};
use arrow_cuda_driver::{CudaError, CudaResult, codes};
use cudarc::driver::{CudaContext, CudaStream};
use std::mem;
use std::ops::Deref;
use std::sync::Arc;

/// One of our streams in the form that functions of `cudarc` take, which keep clones of the [`Arc`].
///
/// The stream lives as long as this.  If clones are left when this is dropped, in slices that were allocated on it, the
/// stream stays until the context is destroyed.
///
/// ```
/// use arrow_cuda_context::{Context, CudarcStream, Stream};
///
/// let context = Context::primary(0)?;
/// let ours = Stream::new(&context)?;
/// let theirs: CudarcStream = ours.to_cudarc(&context.to_cudarc()?)?;
/// theirs.synchronize()?;
/// assert_eq!(theirs.cu_stream().cast(), ours.as_raw());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct CudarcStream {
    /// None only while it is dropped.
    theirs: Option<Arc<CudaStream>>,
    ours: Option<Stream>,
}

impl Deref for CudarcStream {
    type Target = Arc<CudaStream>;

    fn deref(&self) -> &Arc<CudaStream> {
        self.theirs.as_ref().expect("it is not dropped")
    }
}

impl Drop for CudarcStream {
    fn drop(&mut self) {
        if self.theirs.take().and_then(Arc::into_inner).is_none() {
            mem::forget(self.ours.take());
        }
    }
}

impl Stream {
    /// A stream of `cudarc`, which both libraries can use from now on.
    ///
    /// Both share ownership: dropping the last one destroys the stream.
    ///
    /// ```
    /// use arrow_cuda_context::{Device, Stream};
    /// use cudarc::driver::CudaContext;
    ///
    /// Device::count()?; // first a call of these crates: `cudarc` then finds the simulator, too
    /// let theirs = CudaContext::new(0)?.new_stream()?;
    /// let ours = Stream::from_cudarc(theirs.clone())?;
    /// assert_eq!(ours.as_raw(), theirs.cu_stream().cast());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Context::from_cudarc`]; `CUDA_ERROR_INVALID_HANDLE` for what is not a stream of its context.
    pub fn from_cudarc(stream: Arc<CudaStream>) -> CudaResult<Self> {
        let context = Context::from_cudarc(stream.context())?;
        let raw: RawStream = stream.cu_stream().cast();
        let owner = Box::new(Adopted::new(&context, "a stream of cudarc", stream));
        // SAFETY: the handle of a live stream, which its owner keeps alive.
        let found = unsafe { Self::borrowed(&[&context], raw, owner) }?;
        found.ok_or_else(|| CudaError::of_call("cuStreamGetCtx", codes::INVALID_HANDLE))
    }

    /// The stream for functions of `cudarc`, in an object of the stream's context.
    ///
    /// `cudarc` has work on different streams wait for each other only where it has made one of them itself:
    /// for others, call its `join`.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// let stream = Stream::new(&context)?.to_cudarc(&context.to_cudarc()?)?;
    /// let slice = stream.clone_htod(&[1, 2, 3])?;
    /// assert_eq!(stream.clone_dtoh(&slice)?, [1, 2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Context::from_cudarc`]; `CUDA_ERROR_INVALID_CONTEXT` for an object of another context.
    pub fn to_cudarc(&self, context: &Arc<CudaContext>) -> CudaResult<CudarcStream> {
        if !Context::from_cudarc(context)?.is_same(self.context()) {
            return Err(CudaError::of_call("cuStreamGetCtx", codes::INVALID_CONTEXT));
        }
        // SAFETY: a stream of the context, which lives as long as the result or its clones.
        let theirs = unsafe { context.wrap_borrowed_stream(self.as_raw().cast()) };
        Ok(CudarcStream { theirs: Some(theirs), ours: Some(self.clone()) })
    }
}
