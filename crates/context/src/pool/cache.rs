//! Statistics and limits of a context's memory.

use super::budget::default_device_limit;
use super::{MemoryStats, Source};
use crate::Context;
use arrow_cuda_driver::CudaResult;

impl Context {
    /// How many bytes this process has allocated in this context and not released yet, as
    /// requested.  Slices, foreign memory and imported memory do not count.
    ///
    /// # Errors
    ///
    /// In a forked child.
    pub fn bytes_allocated(&self) -> CudaResult<u64> {
        Ok(self.pool(Source::Device).ledger()?.stats().allocated_bytes)
    }

    /// How much memory is and was in use and cached, and how often cached memory was reused.
    ///
    /// # Errors
    ///
    /// In a forked child; or when the driver cannot tell the device's memory.
    pub fn memory_stats(&self) -> CudaResult<MemoryStats> {
        let cache_limit = self.cache_limit()?;
        Ok(MemoryStats { cache_limit, ..self.pool(Source::Device).ledger()?.stats() })
    }

    /// Lets both peaks of the statistics begin again, at what is allocated and reserved now.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Placement};
    ///
    /// let context = Context::primary(0)?;
    /// drop(context.allocate(3 << 20, Placement::Alone)?);
    /// context.reset_peak_memory_stats()?;
    /// let stats = context.memory_stats()?;
    /// assert_eq!(stats.peak_allocated_bytes, stats.allocated_bytes);
    /// # Ok::<(), arrow_cuda_driver::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// In a forked child.
    pub fn reset_peak_memory_stats(&self) -> CudaResult<()> {
        self.pool(Source::Device).ledger()?.reset_peaks();
        Ok(())
    }

    /// The most bytes of released memory that the context caches.
    ///
    /// This is `PYARROW_CUDA_CACHE` if that is set: a number of bytes (`K`, `M` and `G` are powers
    /// of 1024), `0` or `off`; otherwise an eighth of the device's memory.  Contexts of other
    /// libraries cache nothing: their owner may destroy them at any time.
    ///
    /// # Errors
    ///
    /// In a forked child; or when the driver cannot tell the device's memory.
    pub fn cache_limit(&self) -> CudaResult<u64> {
        let known = self.pool(Source::Device).ledger()?.limit();
        if !self.may_cache() {
            return Ok(0);
        }
        if let Some(bytes) = known {
            return Ok(bytes);
        }
        let bytes = default_device_limit(self.total_memory()?);
        let mut ledger = self.pool(Source::Device).ledger()?;
        match ledger.limit() {
            Some(decided) => Ok(decided),
            None => {
                let evicted = ledger.set_limit(bytes);
                debug_assert!(evicted.is_empty(), "nothing is cached before there is a limit");
                Ok(bytes)
            }
        }
    }

    /// Sets how many bytes of released memory the context caches from now on; 0 for none.  Blocks
    /// that exceed the limit go back to the driver, large ones first.  Contexts of
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
    /// In a forked child, or if the context cannot be entered: nothing has changed then.  Or the first
    /// error of a release, once all were tried.
    pub fn set_cache_limit(&self, bytes: u64) -> CudaResult<()> {
        if !self.may_cache() {
            return Ok(());
        }
        drop(self.pool(Source::Device).ledger()?); // fails in a forked child
        let set = || Ok(self.pool(Source::Device).ledger()?.set_limit(bytes));
        self.free_removed(Source::Device, set).1
    }

    /// Gives all cached memory back to the driver, for other libraries and processes, and returns
    /// its size in bytes.  Waits for all work of the device.
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
    /// In a forked child, or if the context cannot be entered: nothing is released then.  Or the first
    /// error of a release, once all were tried.
    pub fn empty_cache(&self) -> CudaResult<u64> {
        drop(self.pool(Source::Device).fences.lock()?); // fails in a forked child
        let (bytes, outcome) = self.empty_pool(Source::Device);
        outcome.map(|()| bytes)
    }

    /// Gives all cached memory of a pool back to the driver, with the events that it has kept for reuse.
    pub(super) fn empty_pool(&self, source: Source) -> (u64, CudaResult<()>) {
        let fences = self.pool(source).fences.lock().map(|mut fences| std::mem::take(&mut *fences));
        drop(fences); // under no lock
        self.free_unused(source)
    }

    /// Gives all unused segments of a pool back to the driver.  Returns how many bytes, and the first failure.
    pub(super) fn free_unused(&self, source: Source) -> (u64, CudaResult<()>) {
        self.free_removed(source, || Ok(self.pool(source).ledger()?.clear()))
    }

    /// Whether released memory may be cached at all: not in a borrowed context, which its owner may
    /// destroy at any time, nor where the driver does not number contexts, so that a reset would go
    /// undetected.
    pub(crate) fn may_cache(&self) -> bool {
        self.is_primary() && self.is_numbered()
    }
}
