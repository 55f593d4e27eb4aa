//! How an allocation is served: by an idle block, by the driver, or once room was made.

use super::block::Block;
use super::ledger::{Found, Request};
use super::{Placement, lookup};
use crate::streams::wait_for_all;
use crate::{Context, Current};
use arrow_cuda_driver::{CudaError, CudaResult, Lock, blocking, report_failure};

/// Other threads may take or cache the room that was made, so it is made again, but not for ever.
const MOST_ATTEMPTS: u32 = 16;

impl Context {
    /// Allocates `size` bytes, more than 0, uninitialised.
    ///
    /// A released block of about that size serves again, once no work can touch it any more.  When
    /// the device has no room, the driver gets all cached memory back first.
    ///
    /// # Errors
    ///
    /// When the device has no room for it: `CUDA_ERROR_OUT_OF_MEMORY`; when the context is gone.
    pub fn allocate(&self, size: u64, placement: Placement) -> CudaResult<Block> {
        let current = self.enter().inspect_err(|error| {
            if error.is_context_gone() {
                self.abandon();
            }
        })?;
        let total = self.total_memory()?;
        self.cache_limit()?; // decides it, unless it was
        let request = self.manager().ledger.lock()?.request(size, placement, total);
        if let Some(address) = self.reused(&current, &request)? {
            return Ok(self.block(address, &request));
        }
        let (address, request) = self.fresh(&current, request)?;
        self.manager().ledger.lock()?.add(address, request);
        lookup::note(address, request.capacity);
        Ok(self.block(address, &request))
    }

    fn block(&self, address: u64, request: &Request) -> Block {
        let Request { size, is_alone, .. } = *request;
        Block { address, size, is_alone, context: self.clone() }
    }

    /// An idle block that no work can touch any more.
    fn reused(&self, current: &Current<'_>, request: &Request) -> CudaResult<Option<u64>> {
        let manager = self.manager();
        let last_release = {
            let mut ledger = manager.ledger.lock()?;
            match ledger.reuse(request) {
                Found::Block { address } => return Ok(Some(address)),
                // What is released from here on is not covered by what is found out now.
                Found::Unsure => ledger.last_release(),
                Found::Nothing => {
                    ledger.count_miss(request);
                    return Ok(None);
                }
            }
        };
        let mut fences = manager.fences.lock()?;
        let complete = fences.complete_up_to(current, last_release);
        let mut ledger = manager.ledger.lock()?;
        ledger.note_complete(complete);
        if let Found::Block { address } = ledger.reuse(request) {
            return Ok(Some(address));
        }
        ledger.count_miss(request);
        Ok(None)
    }

    /// Memory of the driver's, and what was asked for in the end.
    fn fresh(&self, current: &Current<'_>, mut request: Request) -> CudaResult<(u64, Request)> {
        let ask = |request: &Request| {
            let allocated = current.allocate_memory(request.capacity);
            allocated.map_err(|error| error.while_allocating(request.size))
        };
        let mut allocated = ask(&request);
        for _ in 0..MOST_ATTEMPTS {
            if !is_out_of_memory(&allocated) || !self.make_room() {
                break;
            }
            allocated = ask(&request);
        }
        let mut ledger = self.manager().ledger.lock()?;
        if is_out_of_memory(&allocated)
            && let Some(packed) = ledger.pack(&request)
        {
            // The room that is left may not be a whole block.
            drop(ledger);
            request = packed;
            allocated = ask(&request);
            ledger = self.manager().ledger.lock()?;
        }
        let address = allocated.inspect_err(|_| ledger.cancel(&request))?;
        Ok((address, request))
    }

    /// Makes room on the device: gives back all that is cached of its memory in this process, also
    /// what work in flight retains, once that is complete.  Whether that was anything, or another
    /// thread has done so meanwhile.
    fn make_room(&self) -> bool {
        let has_completed = wait_for_all();
        let (bytes, has_waited, outcome) = blocking(|| {
            // What another thread is giving back is not cached any more, nor free before it is done.
            static ONE_AT_A_TIME: Lock<()> = Lock::new(());
            let (_one_at_a_time, has_waited) = match ONE_AT_A_TIME.try_lock() {
                Ok(Some(guard)) => (Ok(guard), false),
                _ => (ONE_AT_A_TIME.lock(), true),
            };
            let (bytes, outcome) = self.empty_caches_of_the_device();
            (bytes, has_waited, outcome)
        });
        // Not under the lock: whoever hears of a failure may allocate.
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
            let (bytes, outcome) = context.give_back_idle();
            (sum.0 + bytes, sum.1.and(outcome))
        })
    }
}

fn is_out_of_memory(allocated: &CudaResult<u64>) -> bool {
    allocated.as_ref().is_err_and(CudaError::is_out_of_memory)
}
