//! Access of a device to memory of another one.

use crate::{Context, Current};
use arrow_cuda_driver::{CudaResult, call};

impl Current<'_> {
    /// Lets work of the context access all memory of another device's context, from now on.
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED`; `CUDA_ERROR_PEER_ACCESS_UNSUPPORTED` or
    /// `CUDA_ERROR_TOO_MANY_PEERS` where the devices cannot; `CUDA_ERROR_INVALID_CONTEXT` where the
    /// other context is gone.
    pub(crate) fn enable_peer_access(&self, peer: &Context) -> CudaResult<()> {
        drop(peer.enter()?);
        // SAFETY: a context that was found alive.
        unsafe { call!(cuCtxEnablePeerAccess(peer.raw(), 0)) }
    }
}
