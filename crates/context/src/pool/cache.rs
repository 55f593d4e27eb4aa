//! The caches of released memory: their statistics, their limits, and their release.

use super::ledger::{Ledger, Segment};
use super::limits::{default_device_limit, default_pinned_limit};
use super::pools::{PINNED, Pool};
use super::release::{Freed, total};
use super::stats::Account;
use super::{MemoryStats, Source};
use crate::{Context, Current, contexts};
use arrow_cuda_driver::CudaResult;
use std::mem;

/// Released memory that serves later allocations: device memory, which each context caches for itself, or pinned
/// host memory, which the process caches.
///
/// ```
/// use arrow_cuda_context::{Cache, Context, Placement};
///
/// let context = Context::primary(0)?;
/// drop(context.allocate(3 << 20, Placement::Alone)?);
/// drop(context.allocate_pinned(100)?);
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
    fn with_account<T>(self, work: impl FnOnce(&mut Account) -> T) -> CudaResult<T> {
        match self {
            Self::Device(context) => {
                context.pool(Source::Device).with_ledger(|ledger| work(&mut ledger.account))
            }
            Self::Pinned => Ok(work(PINNED.lock()?.get_or_insert_default())),
        }
    }

    /// How much memory is and was in use and cached, and how often cached memory was reused.
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
    /// # Errors
    ///
    /// In a forked child.
    pub fn reset_peaks(self) -> CudaResult<()> {
        self.with_account(Account::reset_peaks)
    }

    /// The most bytes of released memory that may be cached.
    ///
    /// # Errors
    ///
    /// In a forked child; or when the driver cannot tell the device's memory.
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

    /// Sets how many bytes of released memory are cached from now on; 0 for none.  Memory that exceeds the limit goes
    /// back to the driver, large segments first.
    ///
    /// The limit is `PYARROW_CUDA_CACHE` or `PYARROW_CUDA_PINNED_CACHE` at first: a number of bytes (`K`, `M` and
    /// `G` are powers of 1024), `0` or `off`.  Without that, a context caches an eighth of the device's memory, and
    /// the process 1/16 of the machine's pinned, at most 1 GiB.
    ///
    /// # Errors
    ///
    /// In a forked child, or if a context cannot be entered: nothing was released there then.  Or the first error of a
    /// release, once all were tried.
    pub fn set_limit(self, bytes: u64) -> CudaResult<()> {
        match self {
            Self::Device(context) if !context.may_cache() => return self.with_account(|_| ()),
            _ => self.with_account(|account| account.limit = Some(bytes))?,
        }
        self.free_removed(|pool, _| pool.with_ledger(Ledger::remove_beyond_limit)).1
    }

    /// Gives all cached memory back to the driver, for other libraries and processes, and returns its size in bytes.
    /// Waits for all work of the devices.
    ///
    /// # Errors
    ///
    /// As for [`set_limit`](Self::set_limit).
    pub fn empty(self) -> CudaResult<u64> {
        self.with_account(|_| ())?;
        let (bytes, outcome) = self.clear();
        outcome.map(|()| bytes)
    }

    /// Has the driver free all that is cached, and the events that the pools have kept for reuse.
    pub(super) fn clear(self) -> Freed {
        self.free_removed(|pool, _| {
            drop(pool.with_fences(mem::take));
            pool.with_ledger(Ledger::clear)
        })
    }

    /// Has the driver free segments that `remove` takes from each ledger.
    pub(super) fn free_removed(
        self,
        remove: impl Fn(&Pool, &Current<'_>) -> CudaResult<Vec<Segment>>,
    ) -> Freed {
        match self {
            Self::Device(context) => context.free_removed(Source::Device, &remove),
            Self::Pinned => total(contexts::all().iter().flat_map(|context| {
                [Source::Pinned, Source::Pages].map(|source| context.free_removed(source, &remove))
            })),
        }
    }
}

impl Context {
    /// The cache of this context's device memory.
    pub fn cache(&self) -> Cache<'_> {
        Cache::Device(self)
    }

    /// How many bytes this process has allocated in this context and not released yet, as
    /// requested.  Slices, foreign memory and imported memory do not count.
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
