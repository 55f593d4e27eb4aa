//! A block of memory in use.

use super::Source;
use crate::{Context, Ready};
use arrow_cuda_driver::{may_release, report_failure};
use std::sync::atomic::{AtomicBool, Ordering};

/// An allocation of device memory or pinned host memory. Dropping it gives the memory back: to its pool, which
/// caches it, or to the driver (exported memory stays allocated).
///
/// As long as nobody outside this project has the block's address, its memory is reused as soon as it is
/// released.  Every copy, fill and kernel of this project is complete when its call returns, or retains the
/// memory until it completes.  Small copies do neither, but every later use of the memory awaits them.  Once
/// the block is *exposed*, other libraries may have queued work that uses the memory.  It is then reused only
/// when there is evidence that this work is complete.
///
/// ```
/// use arrow_cuda_context::{Block, Context, Placement, Ready};
///
/// let block = Block::allocate(&Context::primary(0)?, 100, Placement::Packed)?;
/// assert!(block.size() == 100 && !block.is_exposed());
/// assert!(block.address(&Ready::by_caller()) > 0 && block.is_exposed());
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
#[derive(Debug)]
pub struct Block {
    pub(super) address: u64,
    pub(super) size: u64,
    pub(super) segment: u64,
    pub(super) context: Context,
    pub(super) source: Source,
    /// Whether somebody outside this project may have the address, or is about to get it.
    is_exposed: AtomicBool,
    /// Whether the small copies into the block were awaited after it was exposed, so that others find their
    /// bytes there.
    is_settled: AtomicBool,
}

impl Block {
    pub(super) fn new(
        context: &Context,
        source: Source,
        (address, segment): (u64, u64),
        size: u64,
    ) -> Self {
        let (context, is_exposed) = (context.clone(), AtomicBool::new(false));
        let is_settled = AtomicBool::new(false);
        Self { address, size, segment, context, source, is_exposed, is_settled }
    }

    /// The address, for a consumer for whom `ready` was made.  Asking for it exposes the block.
    ///
    /// ```
    /// use arrow_cuda_context::{Block, Consumer, Context, Placement};
    ///
    /// let context = Context::primary(0)?;
    /// let block = Block::allocate(&context, 100, Placement::Packed)?;
    /// let ready = context.make_ready_for(Consumer::Unknown, &[])?;
    /// let address = block.address(&ready); // for another library
    /// assert!(address == block.private_address() && block.is_exposed());
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Panics
    ///
    /// When the readiness is that of another context.
    pub fn address(&self, ready: &Ready) -> u64 {
        assert!(ready.is_for(&self.context), "ready in another context");
        self.expose();
        self.address
    }

    /// The address, without exposing the block: for work that is complete, or retains the block, when
    /// the call returns or fails.  Other libraries must not get it.
    ///
    /// ```
    /// use arrow_cuda_context::{Block, Context, Placement};
    ///
    /// let context = Context::primary(0)?;
    /// let block = Block::allocate(&context, 100, Placement::Packed)?;
    /// // SAFETY: the block has 100 bytes, and the fill is complete when the call returns.
    /// unsafe { context.enter()?.fill_memory(block.private_address(), 0, 100) }?;
    /// assert!(!block.is_exposed());
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    pub fn private_address(&self) -> u64 {
        self.address
    }

    /// Marks the block as exposed: work that nobody here knows may use it from now on.  Waits for the small
    /// copies that the device is still at work on.
    ///
    /// ```
    /// use arrow_cuda_context::{Block, Context, Placement};
    ///
    /// let block = Block::allocate(&Context::primary(0)?, 100, Placement::Packed)?;
    /// block.expose();
    /// assert!(block.is_exposed());
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    pub fn expose(&self) {
        if self.is_settled.load(Ordering::Acquire) {
            return;
        }
        // From here on, small copies into the block are awaited by their own calls.
        self.is_exposed.store(true, Ordering::SeqCst);
        let mut awaited = self.context.await_deferred();
        if awaited.is_err() {
            // Unless the device itself has failed, the bytes are there after another wait.
            let again = self.context.await_deferred();
            report_failure("an address", std::mem::replace(&mut awaited, again));
        }
        self.is_settled.fetch_or(awaited.is_ok(), Ordering::Release);
    }

    /// Whether the block is exposed.
    ///
    /// ```
    /// use arrow_cuda_context::{Block, Context, Placement, Ready};
    ///
    /// let block = Block::allocate(&Context::primary(0)?, 100, Placement::Packed)?;
    /// assert!(!block.is_exposed());
    /// block.address(&Ready::by_caller());
    /// assert!(block.is_exposed());
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    pub fn is_exposed(&self) -> bool {
        self.is_exposed.load(Ordering::SeqCst)
    }

    /// The size that was asked for, in bytes.
    ///
    /// ```
    /// use arrow_cuda_context::{Block, Context, Placement};
    ///
    /// let block = Block::allocate(&Context::primary(0)?, 100, Placement::Packed)?;
    /// assert_eq!(block.size(), 100);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Whether it is pinned host memory.
    pub(crate) fn is_on_host(&self) -> bool {
        self.source != Source::Device
    }

    /// Whether both lie in one segment, so that one copy may reach from one to the other.
    ///
    /// ```
    /// use arrow_cuda_context::{Block, Context, Placement};
    ///
    /// let context = Context::primary(0)?;
    /// let blocks = Block::suballocate(&context, &[100, 200])?;
    /// assert!(blocks[0].shares_segment(&blocks[1]));
    /// assert!(!blocks[0].shares_segment(&Block::allocate_pinned(&context, 100)?));
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    pub fn shares_segment(&self, other: &Self) -> bool {
        self.segment == other.segment && self.context.is_same(&other.context)
    }

    /// Where the block was allocated.
    ///
    /// ```
    /// use arrow_cuda_context::{Block, Context, Placement};
    ///
    /// let context = Context::primary(0)?;
    /// let block = Block::allocate(&context, 100, Placement::Packed)?;
    /// assert!(block.context().is_same(&context));
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    pub fn context(&self) -> &Context {
        &self.context
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if may_release() {
            let released = self.context.release_block(self.source, self.address, self.is_exposed());
            report_failure(self.source.name(), released);
        }
    }
}
