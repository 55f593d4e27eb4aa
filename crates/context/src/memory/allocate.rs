//! How an allocation is served: from an idle block, by the driver, or by the driver once memory was
//! reclaimed.

use super::block::Block;
use super::ledger::{IdleLookup, Request};
use super::{Placement, lookup};
use crate::streams::wait_for_all;
use crate::{Context, Current};
use arrow_cuda_driver::{CudaError, CudaResult, Lock, blocking, report_failure};

/// Other threads may take or cache the memory that was reclaimed, so this repeats, up to a limit.
const MAX_ATTEMPTS: u32 = 16;

impl Context {
    /// Allocates `size` bytes, more than 0, uninitialised.
    ///
    /// Reuses an idle block of about that size, once no work can touch it any more.  When the
    /// device has no room, all cached memory goes back to the driver first.
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_OUT_OF_MEMORY` when the device has no room; an error when the context is gone.
    pub fn allocate(&self, size: u64, placement: Placement) -> CudaResult<Block> {
        let current = self.enter().inspect_err(|error| {
            if error.is_context_gone() {
                self.abandon();
            }
        })?;
        let total = self.total_memory()?;
        self.cache_limit()?; // sets the default limit at the first allocation
        let request = self.manager().ledger.lock()?.request(size, placement, total);
        if let Some(address) = self.reuse_idle(&current, &request)? {
            return Ok(self.block(address, &request));
        }
        let (address, request) = self.allocate_from_driver(&current, request)?;
        self.manager().ledger.lock()?.add(address, request);
        lookup::extend_range(address, request.capacity);
        Ok(self.block(address, &request))
    }

    fn block(&self, address: u64, request: &Request) -> Block {
        let Request { size, is_alone, .. } = *request;
        Block { address, size, is_alone, context: self.clone() }
    }

    /// An idle block that no work can touch any more.
    fn reuse_idle(&self, current: &Current<'_>, request: &Request) -> CudaResult<Option<u64>> {
        let manager = self.manager();
        let last_release = {
            let mut ledger = manager.ledger.lock()?;
            match ledger.reuse(request) {
                IdleLookup::Hit { address } => return Ok(Some(address)),
                // The fences below do not cover blocks that are released from here on.
                IdleLookup::InFlight => ledger.last_release(),
                IdleLookup::Miss => {
                    ledger.count_miss(request);
                    return Ok(None);
                }
            }
        };
        let mut fences = manager.fences.lock()?;
        let complete = fences.complete_up_to(current, last_release);
        let mut ledger = manager.ledger.lock()?;
        ledger.mark_complete(complete);
        if let IdleLookup::Hit { address } = ledger.reuse(request) {
            return Ok(Some(address));
        }
        ledger.count_miss(request);
        Ok(None)
    }

    /// Allocates memory from the driver.  Returns its address and the request that succeeded.
    fn allocate_from_driver(
        &self,
        current: &Current<'_>,
        mut request: Request,
    ) -> CudaResult<(u64, Request)> {
        let ask = |request: &Request| {
            let allocated = current.allocate_memory(request.capacity);
            allocated.map_err(|error| error.while_allocating(request.size))
        };
        let mut allocated = ask(&request);
        for _ in 0..MAX_ATTEMPTS {
            if !is_out_of_memory(&allocated) || !self.reclaim() {
                break;
            }
            allocated = ask(&request);
        }
        let mut ledger = self.manager().ledger.lock()?;
        if is_out_of_memory(&allocated)
            && let Some(packed) = ledger.pack(&request)
        {
            // The room that is left may be less than a whole block.
            drop(ledger);
            request = packed;
            allocated = ask(&request);
            ledger = self.manager().ledger.lock()?;
        }
        let address = allocated.inspect_err(|_| ledger.cancel(&request))?;
        Ok((address, request))
    }

    /// Reclaims memory of the device: gives back everything that this process has cached on it,
    /// including what work in flight retains, once that work is complete.  Returns whether this
    /// freed anything, or another thread has done so meanwhile.
    fn reclaim(&self) -> bool {
        let has_completed = wait_for_all();
        let (bytes, has_waited, outcome) = blocking(|| {
            // Memory that another thread is giving back is no longer cached, but not yet free
            // either.
            static ONE_AT_A_TIME: Lock<()> = Lock::new(());
            let (_one_at_a_time, has_waited) = match ONE_AT_A_TIME.try_lock() {
                Ok(Some(guard)) => (Ok(guard), false),
                _ => (ONE_AT_A_TIME.lock(), true),
            };
            let (bytes, outcome) = self.empty_caches_of_the_device();
            (bytes, has_waited, outcome)
        });
        // Not under the lock: the handler of a failure report may allocate.
        report_failure("device memory", outcome);
        if bytes > 0
            && let Ok(mut ledger) = self.manager().ledger.lock()
        {
            ledger.count_retry();
        }
        bytes > 0 || has_completed || has_waited
    }

    fn empty_caches_of_the_device(&self) -> (u64, CudaResult<()>) {
        let on_this_device = |context: &Self| context.device() == self.device();
        Self::primaries().into_iter().filter(on_this_device).fold((0, Ok(())), |sum, context| {
            let (bytes, outcome) = context.free_idle();
            (sum.0 + bytes, sum.1.and(outcome))
        })
    }
}

fn is_out_of_memory(allocated: &CudaResult<u64>) -> bool {
    allocated.as_ref().is_err_and(CudaError::is_out_of_memory)
}
