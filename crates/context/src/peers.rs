//! Copies between the memory of contexts, and what makes those between devices fast: peer access.
//!
//! Without peer access the driver moves a copy between devices through memory of the host, at about a
//! tenth of the speed.  A context gets access to another one's memory when memory is first copied
//! between the two.  Where the devices cannot give it, the driver's own way stays.

use crate::{Context, Current, Extension, StreamHandle};
use arrow_cuda_driver::{CudaResult, LongLock, call, codes};

/// The contexts whose memory a context can access, or cannot for good, by their identity: after a reset
/// of its device, a context is another one, to which nobody has access.
#[derive(Default)]
struct Peers(LongLock<Vec<(usize, u64)>>);

impl Extension for Peers {}

impl Context {
    /// Gives the device access to memory of another context, unless the driver was asked before.  A
    /// failure changes nothing but the speed, so it is not reported.
    fn access(&self, peer: &Self) {
        let Ok(mut peers) = self.own_extension(Peers::default).0.lock() else { return };
        if !peers.contains(&peer.identity()) && self.try_access(peer).is_ok() {
            peers.push(peer.identity());
        }
    }

    /// Succeeds when the answer is final.
    fn try_access(&self, peer: &Self) -> CudaResult<()> {
        if !self.device().can_access(peer.device())? {
            return Ok(());
        }
        let _current = self.enter()?;
        drop(peer.enter()?);
        // SAFETY: a context that was found alive.
        match unsafe { call!(cuCtxEnablePeerAccess(peer.raw(), 0)) } {
            Err(error) if error.code().is_some_and(|code| FINAL.contains(&code)) => Ok(()),
            outcome => outcome,
        }
    }
}

/// Somebody else in the process has enabled the access; the devices do not offer it; a device has as many
/// peers as it can.
const FINAL: [i32; 3] =
    [codes::PEER_ACCESS_ALREADY_ENABLED, codes::PEER_ACCESS_UNSUPPORTED, codes::TOO_MANY_PEERS];

/// Whether both are the same.  Others get access to each other.
fn are_same(one: &Context, other: &Context) -> bool {
    if one.is_same(other) {
        return true;
    }
    one.access(other);
    other.access(one);
    false
}

impl Current<'_> {
    /// Copies memory of this context to that of another one, or within it.  As other copies without a
    /// stream, this one is ordered as the legacy default stream is, here and there.
    ///
    /// ```
    /// use arrow_cuda_context::{Block, Context, Device, Placement};
    ///
    /// let (first, last) = (Context::primary(0)?, Context::primary(Device::count()? - 1)?);
    /// let (from, to) = (Block::allocate(&first, 4, Placement::Packed)?, Block::allocate(&last, 4, Placement::Packed)?);
    /// let (current, mut out) = (first.enter()?, [0; 4]);
    /// // SAFETY: live ranges of 4 bytes, which nobody else uses.
    /// unsafe {
    ///     current.fill_memory(from.private_address(), 7, 4)?;
    ///     current.copy_to_context((to.private_address(), &last), from.private_address(), 4)?;
    ///     last.enter()?.copy_to_host(out.as_mut_ptr(), to.private_address(), 4)?;
    /// }
    /// assert_eq!(out, [7; 4]);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Safety
    ///
    /// Both ranges must be live and must not overlap; `to` must be the caller's to write, and `target`
    /// must not be destroyed meanwhile.
    ///
    /// # Errors
    ///
    /// Driver errors; `CUDA_ERROR_INVALID_CONTEXT` where `target` is gone.
    pub unsafe fn copy_to_context(
        &self,
        (to, target): (u64, &Context),
        from: u64,
        size: usize,
    ) -> CudaResult<()> {
        let is_within = are_same(self.context(), target);
        target.await_deferred()?;
        if !is_within {
            target.enter()?.await_turn(StreamHandle::DEFAULT)?;
        }
        self.await_turn(StreamHandle::DEFAULT)?;
        match is_within {
            true => {
                // SAFETY: guaranteed by the caller.
                unsafe { call!(cuMemcpyDtoD_v2(to, from, size)) }?;
                // The driver only queues such a copy, so this waits for its end.
                self.synchronize_stream(StreamHandle::DEFAULT)
            }
            false => {
                drop(target.enter()?);
                // SAFETY: guaranteed by the caller; both contexts are alive.
                unsafe { call!(cuMemcpyPeer(to, target.raw(), from, self.context().raw(), size)) }?;
                self.synchronize_stream(StreamHandle::DEFAULT).inspect_err(|_| {
                    // The target's device does not wait for work of this one when it releases the
                    // memory, so none may be left.  If this fails too, the context executes nothing
                    // any more.
                    let _waited = self.synchronize();
                })
            }
        }
    }

    /// Queues a copy from one context to another one, or within one, on a stream of the current
    /// context.
    ///
    /// ```
    /// use arrow_cuda_context::{Block, Context, Device, Placement, Stream};
    ///
    /// let (first, last) = (Context::primary(0)?, Context::primary(Device::count()? - 1)?);
    /// let (from, to) = (Block::allocate(&first, 4, Placement::Packed)?, Block::allocate(&last, 4, Placement::Packed)?);
    /// let (source, target) = ((from.private_address(), &first), (to.private_address(), &last));
    /// let (current, stream, mut out) = (first.enter()?, Stream::new(&first)?, [0; 4]);
    /// // SAFETY: live ranges of 4 bytes until the stream is done, which nobody else uses.
    /// unsafe {
    ///     current.fill_memory(source.0, 7, 4)?;
    ///     current.queue_copy_between(target, source, 4, stream.handle())?;
    ///     stream.synchronize()?;
    ///     last.enter()?.copy_to_host(out.as_mut_ptr(), target.0, 4)?;
    /// }
    /// assert_eq!(out, [7; 4]);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Safety
    ///
    /// Both ranges must be live until the stream has made the copy, and must not overlap; neither
    /// context may be destroyed before.
    ///
    /// # Errors
    ///
    /// Driver errors; `CUDA_ERROR_INVALID_CONTEXT` where a context is gone.
    pub unsafe fn queue_copy_between(
        &self,
        (to, target): (u64, &Context),
        (from, source): (u64, &Context),
        size: usize,
        stream: StreamHandle<'_>,
    ) -> CudaResult<()> {
        let stream = self.raw_stream_for_work(stream)?;
        target.await_deferred()?;
        source.await_deferred()?;
        match are_same(source, target) {
            // SAFETY: guaranteed by the caller.
            true => unsafe { call!(cuMemcpyDtoDAsync_v2(to, from, size, stream)) },
            false => {
                drop((target.enter()?, source.enter()?));
                let contexts = (target.raw(), source.raw());
                // SAFETY: guaranteed by the caller; both contexts are alive.
                unsafe { call!(cuMemcpyPeerAsync(to, contexts.0, from, contexts.1, size, stream)) }
            }
        }
    }
}
