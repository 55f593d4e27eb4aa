//! What a context does with the memory that it keeps: how much it may be, and giving it back.

use crate::cache::{Idle, MemoryStats, default_limit};
use crate::codes::NOT_INITIALIZED;
use crate::{Context, driver_memory, in_flight, live};
use arrow_cuda_driver::{
    CudaError, CudaResult, blocking, is_forked_child, may_release, report_failure,
};
use std::sync::{Mutex, PoisonError};

impl Context {
    /// How much memory there is in use, cached, and was, and how often it was reused.
    ///
    /// # Errors
    ///
    /// In a forked child; or when the driver cannot tell the device's memory.
    pub fn memory_stats(&self) -> CudaResult<MemoryStats> {
        let cache_limit = self.cache_limit()?;
        let (allocated, peak) = self.bytes_allocated_and_peak();
        Ok(MemoryStats {
            allocated_bytes: allocated.try_into().unwrap_or(0),
            peak_allocated_bytes: peak.try_into().unwrap_or(0),
            cache_limit,
            ..self.cache().stats()
        })
    }

    /// The most bytes of released memory that the context keeps, to hand them out again.
    ///
    /// `PYARROW_CUDA_CACHE` if that is set: a number of bytes (`K`, `M` and `G` are powers of
    /// 1024), `0` or `off`; otherwise an eighth of the device's memory.  Contexts of other
    /// libraries keep nothing: whoever made one may destroy it at any time.
    ///
    /// # Errors
    ///
    /// In a forked child; or when the driver cannot tell the device's memory.
    pub fn cache_limit(&self) -> CudaResult<u64> {
        check_not_forked()?;
        if !self.may_cache() {
            return Ok(0);
        }
        match self.cache().limit() {
            Some(bytes) => Ok(bytes),
            None => Ok(self.cache().set_default_limit(default_limit(self.total_memory()?))),
        }
    }

    /// Sets how many bytes of released memory the context keeps from now on; 0 for none.  What
    /// exceeds it goes back to the driver, that which was released longest ago first.
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
        check_not_forked()?;
        self.give_back(&self.cache().set_limit(bytes)).1
    }

    /// Gives all released memory that the context keeps back to the driver, for other libraries
    /// and processes.  Waits for all work of the device.  The result is how many bytes it was.
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
        check_not_forked()?;
        let cleared = self.give_back(&self.cache().clear());
        if !self.is_gone()
            && let Ok(_current) = self.enter()
        {
            let evidence = std::mem::take(&mut *self.cache().evidence());
            // Not under the lock: whoever hears of a failure may allocate.
            evidence.give_up();
        }
        cleared.1.map(|()| cleared.0)
    }

    /// Prepares memory for other processes, which reach the whole allocation in which it lies: it
    /// is not handed out again, and what is left in it of earlier buffers is wiped.
    ///
    /// Nothing is done to memory that was not allocated here.
    ///
    /// # Errors
    ///
    /// The driver's.
    pub fn prepare_for_processes(&self, address: u64) -> CudaResult<()> {
        live::lend(address);
        let Some((rest, size)) = live::remains_at(address) else { return Ok(()) };
        let _current = self.enter()?;
        driver_memory::wipe(rest, size)?;
        self.synchronize_default_stream()
    }

    /// Whether released memory may be kept at all: not in a context that somebody else may destroy
    /// at any time, nor where the driver does not number contexts, so that a reset would not show.
    pub(crate) fn may_cache(&self) -> bool {
        self.is_primary() && self.number() != 0
    }

    /// Gives kept blocks back to the driver: how many bytes, and the first failure.
    pub(crate) fn give_back(&self, idles: &[Idle]) -> (u64, CudaResult<()>) {
        if idles.is_empty() || !may_release() {
            return (0, Ok(()));
        }
        blocking(|| {
            if self.is_gone() {
                self.abandon_memory();
                return (0, Ok(()));
            }
            let mut bytes = 0;
            let mut outcome = Ok(());
            for idle in idles {
                // Once the driver has it, another thread may be given the same address.
                live::forget(idle.address, self.number());
                match self.free(idle.address, idle.capacity) {
                    Ok(()) => bytes += idle.capacity,
                    Err(error) => outcome = outcome.and(Err(error)),
                }
            }
            (bytes, outcome)
        })
    }

    /// Has the driver free a block of that capacity.
    pub(crate) fn free(&self, address: u64, capacity: u64) -> CudaResult<()> {
        // Once the driver has it, another thread may be given it, and count it again.
        self.cache().count_free(capacity);
        driver_memory::free(address).inspect_err(|_| self.cache().count_failed_free(capacity))
    }

    /// Makes room on the device: gives back all that is kept of its memory in this process, also for
    /// work on streams, once that is over.  Whether that was anything, or another thread has done so
    /// meanwhile.
    pub(crate) fn make_room(&self) -> bool {
        let is_anything_over = in_flight::wait_and_release();
        let (bytes, is_done_by_others, outcome) = blocking(|| {
            // What another thread is giving back is not cached any more, nor free before it is done.
            static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
            let (_one_at_a_time, has_waited) = match ONE_AT_A_TIME.try_lock() {
                Ok(guard) => (guard, false),
                Err(_) => (ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner), true),
            };
            let (bytes, outcome) = self.give_all_of_the_device_back();
            (bytes, has_waited, outcome)
        });
        // Not under the lock: whoever hears of a failure may allocate.
        report_failure("device memory", outcome);
        if bytes > 0 {
            self.cache().count_retry();
        }
        bytes > 0 || is_anything_over || is_done_by_others
    }

    fn give_all_of_the_device_back(&self) -> (u64, CudaResult<()>) {
        let on_this_device = |context: &Self| context.device() == self.device();
        Self::primaries().into_iter().filter(on_this_device).fold((0, Ok(())), |sum, context| {
            let (bytes, outcome) = context.give_back(&context.cache().clear());
            (sum.0 + bytes, sum.1.and(outcome))
        })
    }
}

fn check_not_forked() -> CudaResult<()> {
    // Another thread may have held a lock when the process forked.
    if is_forked_child() { Err(CudaError::of_call("cuInit", NOT_INITIALIZED)) } else { Ok(()) }
}
