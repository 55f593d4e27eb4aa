//! How an allocation is served: by released memory, by the driver, or by the driver once memory was
//! reclaimed.

use super::ledger::{Ledger, Lookup, Request, aligned};
use super::pools::{LedgerGuard, Pool};
use super::release::{Freed, total};
use super::{Block, Cache, Placement, Source, lookup};
use crate::streams::{wait_for_contexts, wait_for_work_in_flight};
use crate::{Context, Current, zeroing};
use arrow_cuda_driver::{CudaError, CudaResult, LongLock, blocking, report_failure};

/// Other threads may take or cache the memory that was reclaimed, so this repeats, up to a limit.
const MAX_ATTEMPTS: u32 = 16;

impl Context {
    /// Allocates `size` bytes, more than 0, uninitialised.
    ///
    /// Released memory serves first, if no work can use it any more.  When the device has no room,
    /// all cached memory goes back to the driver.
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_OUT_OF_MEMORY` when the device has no room; an error when the context is gone.
    pub fn allocate(&self, size: u64, placement: Placement) -> CudaResult<Block> {
        self.allocate_block(Source::Device, size, placement)
    }

    /// Allocates `size` bytes, more than 0, of host memory that is pinned for all contexts.  Their
    /// content is unspecified: zeros, or what this process had in pinned memory before.
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_OUT_OF_MEMORY` when the driver cannot pin so much memory; an error when the
    /// context is gone.
    pub fn allocate_pinned(&self, size: usize) -> CudaResult<Block> {
        self.allocate_block(Source::Pinned, size as u64, Placement::Packed)
    }

    fn allocate_block(&self, source: Source, size: u64, placement: Placement) -> CudaResult<Block> {
        let place = self.allocate_for(source, |ledger| ledger.request(size, placement))?;
        zeroing::prepared(Block::new(self, source, place, size))
    }

    /// Allocates blocks of these sizes, each more than 0, one behind the other in one piece of
    /// memory.  Each is aligned to 512 bytes, and is released by itself.
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    ///
    /// let blocks = Context::primary(0)?.allocate_adjacent(&[1, 600, 5])?;
    /// let start = blocks[0].address();
    /// assert_eq!(blocks[1].address() - start, 512);
    /// assert_eq!(blocks[2].address() - start, 512 + 1024);
    /// # Ok::<(), arrow_cuda_driver::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`allocate`](Self::allocate).
    pub fn allocate_adjacent(&self, sizes: &[u64]) -> CudaResult<Vec<Block>> {
        if sizes.is_empty() {
            return Ok(Vec::new());
        }
        let source = Source::Device;
        let (mut next, segment) =
            self.allocate_for(source, |ledger| ledger.request_adjacent(sizes))?;
        self.pool(source).ledger()?.divide(next, sizes);
        let blocks = sizes.iter().map(|size| {
            let block = Block::new(self, source, (next, segment), *size);
            next += aligned(*size);
            block
        });
        // All of them exist before one of them could fail.
        blocks.collect::<Vec<_>>().into_iter().map(zeroing::prepared).collect()
    }

    /// The address of a block for a request, and that of its segment.
    pub(super) fn allocate_for(
        &self,
        source: Source,
        request: impl FnOnce(&Ledger) -> Request,
    ) -> CudaResult<(u64, u64)> {
        let current = self.enter().inspect_err(|error| {
            if self.is_gone(error) {
                self.abandon();
            }
        })?;
        let pool = self.pool(source);
        let ledger = self.limited(source, pool)?;
        let request = request(&ledger);
        match self.reuse(source, pool, ledger, &current, &request)? {
            Some(place) => Ok(place),
            None => self.allocate_from_driver(source, &current, &request),
        }
    }

    /// The ledger of a pool, which knows how much it may cache.
    fn limited<'pool>(&self, source: Source, pool: &'pool Pool) -> CudaResult<LedgerGuard<'pool>> {
        let mut ledger = pool.ledger()?;
        if source == Source::Device && ledger.limit().is_none() {
            drop(ledger);
            self.cache().limit()?;
            return pool.ledger();
        }
        if !self.may_cache() {
            ledger.cache_nothing();
        }
        Ok(ledger)
    }

    /// A block of released memory that no work can use any more.
    fn reuse<'pool>(
        &self,
        source: Source,
        pool: &'pool Pool,
        mut ledger: LedgerGuard<'pool>,
        current: &Current<'_>,
        request: &Request,
    ) -> CudaResult<Option<(u64, u64)>> {
        let mut found = ledger.reuse(request);
        loop {
            match found {
                Lookup::Hit { address, segment } => return Ok(Some((address, segment))),
                Lookup::Miss => {
                    ledger.count_miss(request);
                    return Ok(None);
                }
                Lookup::InFlight => {}
            }
            // The fences below do not cover what is released from here on.
            let has_to_wait = source.may_wait() && ledger.has_to_wait();
            let last_release = ledger.last_release();
            drop(ledger);
            let (complete, oldest, useless) = {
                let mut fences = pool.fences.lock()?;
                let complete = fences.complete_up_to(current, last_release);
                (complete, fences.oldest(), fences.take_useless())
            };
            drop(useless);
            let complete = match complete {
                Ok(0) if has_to_wait => blocking(|| oldest.map_or(0, |fence| fence.wait())),
                Ok(complete) => complete,
                Err(_) if has_to_wait => wait_for_work(current, last_release),
                Err(_) => 0,
            };
            ledger = pool.ledger()?;
            ledger.mark_complete(complete);
            found = ledger.reuse(request);
            // The memory in flight must shrink with each iteration.
            if found == Lookup::InFlight
                && (complete == 0 || !source.may_wait() || !ledger.has_to_wait())
            {
                found = Lookup::Miss;
            }
        }
    }

    /// Has the driver allocate a segment for a request.  Returns the place of the request's block, as
    /// above.
    fn allocate_from_driver(
        &self,
        source: Source,
        current: &Current<'_>,
        request: &Request,
    ) -> CudaResult<(u64, u64)> {
        let pool = self.pool(source);
        let size = pool.ledger()?.segment_size(request);
        let needed = if source.is_scarce() { size } else { 0 };
        self.return_surplus(source, current, needed)
            .map_err(|error| error.while_allocating(request.size))?;
        let ask = |size| source.obtain(current, size).map(|address| (address, size));
        let mut allocated = ask(size);
        for _ in 0..MAX_ATTEMPTS {
            if !is_out_of_memory(&allocated) || !self.reclaim(source, current) {
                break;
            }
            if let Some(place) = pool.take_ready(request)? {
                return Ok(place);
            }
            allocated = ask(size);
        }
        let mut request = *request;
        if is_out_of_memory(&allocated) {
            // The room that is left may be less than a whole segment.
            let packed = pool.ledger()?.pack(&request);
            if let Some(packed) = packed {
                if let Some(place) = pool.take_ready(&packed)? {
                    return Ok(place);
                }
                request = packed;
                allocated = ask(request.capacity);
            }
        }
        let (address, capacity) =
            allocated.map_err(|error| error.while_allocating(request.size))?;
        pool.ledger()?.add(address, capacity, &request);
        lookup::extend_range(source, address, capacity);
        Ok((address, address))
    }

    /// Reclaims memory: gives back everything that this process has cached of it, including what work in
    /// flight retains, once that work is complete.  If that is nothing, waits for what is in flight in
    /// segments that cannot go back.  Returns whether there is more memory
    /// now, or was for another thread meanwhile.
    fn reclaim(&self, source: Source, current: &Current<'_>) -> bool {
        let has_completed = source.may_wait() && wait_for_work_in_flight();
        let (bytes, has_waited, outcome) = blocking(|| {
            // Memory that another thread is giving back is no longer cached, but not yet free
            // either.
            static ONE_AT_A_TIME: LongLock<()> = LongLock::new(());
            let (_one_at_a_time, has_waited) = match ONE_AT_A_TIME.try_lock() {
                Ok(Some(guard)) => (Ok(guard), false),
                _ => (ONE_AT_A_TIME.lock(), true),
            };
            let (bytes, outcome) = self.empty_caches(source);
            (bytes, has_waited, outcome)
        });
        // Not under the lock: the handler of a failure report may allocate.
        report_failure(source.name(), outcome);
        if bytes > 0
            && let Ok(mut ledger) = self.pool(source).ledger()
        {
            ledger.count_retry();
        }
        bytes > 0
            || has_completed
            || has_waited
            || source.may_wait() && self.complete_in_flight(source, current)
    }

    /// Waits for all work that may use released memory.  Returns whether any became ready.
    fn complete_in_flight(&self, source: Source, current: &Current<'_>) -> bool {
        let last_release = match self.pool(source).ledger() {
            Ok(ledger) if ledger.has_in_flight() => ledger.last_release(),
            _ => return false,
        };
        let complete = wait_for_work(current, last_release);
        if let Ok(mut ledger) = self.pool(source).ledger() {
            ledger.mark_complete(complete);
        }
        complete > 0
    }

    /// Empties the caches that take room from this source.
    fn empty_caches(&self, source: Source) -> Freed {
        let on_this_device = |context: &Self| context.device() == self.device();
        match Cache::of(self, source) {
            Cache::Device(_) => {
                let contexts = Self::primaries().into_iter().filter(on_this_device);
                total(contexts.map(|context| context.free_unused(source)))
            }
            pinned => pinned.for_each_pool(Self::free_unused),
        }
    }
}

/// Waits for all work in flight, without a fence.  Returns the number of the last release before it; 0
/// if nothing was proven.
fn wait_for_work(current: &Current<'_>, last_release: u64) -> u64 {
    match blocking(|| wait_for_contexts(current)) {
        Ok(()) => last_release,
        Err(_) => 0,
    }
}

fn is_out_of_memory<T>(allocated: &CudaResult<T>) -> bool {
    allocated.as_ref().is_err_and(CudaError::is_out_of_memory)
}
