//! What a program asks and decides of a context's memory.

use super::MemoryStats;
use super::limit::default_limit;
use crate::Context;
use arrow_cuda_driver::CudaResult;

impl Context {
    /// How many bytes were asked for and are not released yet, in this context, by this process.
    /// Slices, foreign memory and imported memory do not count.
    ///
    /// # Errors
    ///
    /// In a forked child.
    pub fn bytes_allocated(&self) -> CudaResult<u64> {
        Ok(self.manager().ledger.lock()?.stats().allocated_bytes)
    }

    /// How much memory there is in use, cached, and was, and how often it served again.
    ///
    /// # Errors
    ///
    /// In a forked child; or when the driver cannot tell the device's memory.
    pub fn memory_stats(&self) -> CudaResult<MemoryStats> {
        let cache_limit = self.cache_limit()?;
        Ok(MemoryStats { cache_limit, ..self.manager().ledger.lock()?.stats() })
    }

    /// The most bytes of released memory that the context caches.
    ///
    /// `PYARROW_CUDA_CACHE` if that is set: a number of bytes (`K`, `M` and `G` are powers of
    /// 1024), `0` or `off`; otherwise an eighth of the device's memory.  Contexts of other
    /// libraries cache nothing: whoever made one may destroy it at any time.
    ///
    /// # Errors
    ///
    /// In a forked child; or when the driver cannot tell the device's memory.
    pub fn cache_limit(&self) -> CudaResult<u64> {
        let known = self.manager().ledger.lock()?.limit();
        if !self.may_cache() {
            return Ok(0);
        }
        if let Some(bytes) = known {
            return Ok(bytes);
        }
        let bytes = default_limit(self.total_memory()?);
        let mut ledger = self.manager().ledger.lock()?;
        match ledger.limit() {
            Some(decided) => Ok(decided),
            None => {
                let evicted = ledger.set_limit(bytes);
                debug_assert!(evicted.is_empty(), "nothing is cached before there is a limit");
                Ok(bytes)
            }
        }
    }

    /// Sets how many bytes of released memory the context caches from now on; 0 for none.  What
    /// exceeds it goes back to the driver, that which was released longest ago first.  Contexts of
    /// other libraries cache nothing in any case.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Placement};
    ///
    /// let context = Context::primary(0)?;
    /// context.set_cache_limit(0)?;
    /// drop(context.allocate(100, Placement::Packed)?);
    /// assert_eq!(context.memory_stats()?.cached_bytes, 0);
    /// # Ok::<(), arrow_cuda_driver::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// In a forked child, or those of the releases, when all were tried.
    pub fn set_cache_limit(&self, bytes: u64) -> CudaResult<()> {
        if !self.may_cache() {
            return Ok(());
        }
        let evicted = self.manager().ledger.lock()?.set_limit(bytes);
        self.free_segments(&evicted).1
    }

    /// Gives all cached memory back to the driver, for other libraries and processes.  Waits for all
    /// work of the device.  The result is how many bytes it was.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Placement};
    ///
    /// let context = Context::primary(0)?;
    /// drop(context.allocate(3 << 20, Placement::Alone)?);
    /// context.empty_cache()?;
    /// assert_eq!(context.memory_stats()?.cached_bytes, 0);
    /// # Ok::<(), arrow_cuda_driver::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// In a forked child, or those of the releases, when all were tried.
    pub fn empty_cache(&self) -> CudaResult<u64> {
        let fences = std::mem::take(&mut *self.manager().fences.lock()?);
        let (bytes, outcome) = self.give_back_idle();
        // Not under the lock: whoever hears of a failure may allocate.
        if let Ok(current) = self.enter() {
            fences.destroy(&current);
        }
        outcome.map(|()| bytes)
    }

    /// Gives all idle blocks back to the driver: how many bytes, and the first failure.
    pub(super) fn give_back_idle(&self) -> (u64, CudaResult<()>) {
        let idle = self.manager().ledger.lock().map(|mut ledger| ledger.clear());
        match idle {
            Ok(idle) => self.free_segments(&idle),
            Err(error) => (0, Err(error)),
        }
    }

    /// Whether released memory may be cached at all: not in a context that somebody else may destroy
    /// at any time, nor where the driver does not number contexts, so that a reset would not show.
    fn may_cache(&self) -> bool {
        self.is_primary() && self.is_numbered()
    }
}
