//! The caches of released memory: their statistics and their limits.

use super::limits::{default_device_limit, default_pinned_limit};
use super::stats::{Account, PINNED};
use super::{MemoryStats, Source};
use crate::Context;
use arrow_cuda_driver::CudaResult;

/// Released memory that is kept for later allocations: device memory, which each context caches for itself, or
/// pinned host memory, which the process caches.
///
/// ```
/// use arrow_cuda_context::{Block, Cache, Context, Placement};
///
/// let context = Context::primary(0)?;
/// drop(Block::allocate(&context, 3 << 20, Placement::Alone)?);
/// drop(Block::allocate_pinned(&context, 100)?);
/// for cache in [Cache::Device(&context), Cache::Pinned] {
///     assert!(cache.stats()?.cached_bytes > 0);
///     cache.set_limit(0)?; // gives everything back
///     assert_eq!(cache.stats()?.cached_bytes, 0);
/// }
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Cache<'context> {
    /// Device memory of a context.  Contexts of other libraries cache nothing: their owner may destroy them at any
    /// time.
    Device(&'context Context),
    /// Pinned memory of all contexts.
    Pinned,
}

impl<'context> Cache<'context> {
    /// The cache of a pool.
    pub(super) fn of(context: &'context Context, source: Source) -> Self {
        match source {
            Source::Device => Self::Device(context),
            Source::Pinned | Source::Pages => Self::Pinned,
        }
    }

    /// Reads or changes the account.
    pub(super) fn with_account<T>(self, work: impl FnOnce(&mut Account) -> T) -> CudaResult<T> {
        match self {
            Self::Device(context) => {
                context.pool(Source::Device).with_ledger(|ledger| work(&mut ledger.account))
            }
            Self::Pinned => Ok(work(PINNED.lock()?.get_or_insert_default())),
        }
    }

    /// How much memory is and was in use and cached, and how often cached memory was reused.
    ///
    /// ```
    /// use arrow_cuda_context::{Block, Context, Placement};
    ///
    /// let context = Context::primary(0)?;
    /// let block = Block::allocate(&context, 1000, Placement::Packed)?;
    /// let stats = context.cache().stats()?;
    /// assert_eq!(stats.allocated_bytes, 1000);
    /// assert!(stats.reserved_bytes >= 1000 && stats.driver_allocations > 0);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// In a forked child; or when the driver cannot tell the device's memory.
    pub fn stats(self) -> CudaResult<MemoryStats> {
        let cache_limit = self.limit()?;
        self.with_account(|account| MemoryStats { cache_limit, ..account.stats })
    }

    /// Lets both peaks of the statistics begin again, at what is allocated and reserved now.
    ///
    /// ```
    /// use arrow_cuda_context::{Block, Context, Placement};
    ///
    /// let context = Context::primary(0)?;
    /// drop(Block::allocate(&context, 1000, Placement::Packed)?);
    /// assert_eq!(context.cache().stats()?.peak_allocated_bytes, 1000);
    /// context.cache().reset_peaks()?;
    /// assert_eq!(context.cache().stats()?.peak_allocated_bytes, 0);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// In a forked child.
    pub fn reset_peaks(self) -> CudaResult<()> {
        self.with_account(Account::reset_peaks)
    }

    /// The most bytes of released memory that may be cached.
    pub(super) fn limit(self) -> CudaResult<u64> {
        let known = self.with_account(|account| account.limit)?;
        // This asks the driver, or reads a file: not under the lock.
        let bytes = match (self, known) {
            (Self::Device(context), _) if !context.may_cache() => return Ok(0),
            (_, Some(bytes)) => return Ok(bytes),
            (Self::Device(context), None) => default_device_limit(context.total_memory()?),
            (Self::Pinned, None) => default_pinned_limit(),
        };
        self.with_account(|account| *account.limit.get_or_insert(bytes))
    }
}

impl Context {
    /// The cache of this context's device memory.
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    ///
    /// let context = Context::primary(0)?;
    /// context.cache().empty()?;
    /// assert_eq!(context.cache().stats()?.cached_bytes, 0);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    pub fn cache(&self) -> Cache<'_> {
        Cache::Device(self)
    }

    /// How many bytes this process has allocated in this context and not released yet, as
    /// requested.  Slices, foreign memory and imported memory do not count.
    ///
    /// ```
    /// use arrow_cuda_context::{Block, Context, Placement};
    ///
    /// let context = Context::primary(0)?;
    /// let block = Block::allocate(&context, 1000, Placement::Packed)?;
    /// assert_eq!(context.bytes_allocated()?, 1000);
    /// drop(block);
    /// assert_eq!(context.bytes_allocated()?, 0);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// In a forked child.
    pub fn bytes_allocated(&self) -> CudaResult<u64> {
        self.cache().with_account(|account| account.stats.allocated_bytes)
    }

    /// Whether released memory may be cached at all: not in a borrowed context, which its owner may
    /// destroy at any time, nor where the driver does not number contexts, so that a reset would go
    /// undetected.
    pub(crate) fn may_cache(&self) -> bool {
        self.is_primary() && self.is_numbered()
    }
}
