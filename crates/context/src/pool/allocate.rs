//! Allocates memory: released memory, or memory from the driver, if necessary after other memory was given
//! back.

use super::ledger::{BlockAddress, Ledger, Request, aligned};
use super::lookup::RANGES;
use super::pools::Pool;
use super::pools::elsewhere;
use super::release::{Freed, total};
use super::zeroing;
use super::{Block, Cache, MemoryAction, Placement, Source, history};
use crate::streams::wait_for_work_in_flight;
use crate::{Context, Current};
use arrow_cuda_driver::{CudaResult, DeviceMemory, LongLock, blocking, report_failure};
use std::iter;

/// Other threads may take or cache the memory that was reclaimed, so this repeats, up to a limit.
const MAX_ATTEMPTS: u32 = 16;

impl Block {
    /// Allocates `size` bytes, more than 0, uninitialised.
    ///
    /// Released memory is reused first, if no work can use it any more.  When the device has no room, all
    /// cached memory goes back to the driver.
    ///
    /// ```
    /// use arrow_cuda_context::{Block, Context, Placement};
    ///
    /// let context = Context::primary(0)?;
    /// let block = Block::allocate(&context, 1000, Placement::Packed)?;
    /// assert_eq!((block.size(), context.bytes_allocated()?), (1000, 1000));
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_OUT_OF_MEMORY` when the device has no room; an error when the context is gone.
    pub fn allocate(context: &Context, size: u64, placement: Placement) -> CudaResult<Self> {
        Self::allocate_from(context, Source::Device, size, placement)
    }

    /// Allocates `size` bytes, more than 0, of host memory that is pinned for all contexts.  Their
    /// content is unspecified: zeros, or what this process had in pinned memory before.
    ///
    /// ```
    /// use arrow_cuda_context::{Block, Context};
    ///
    /// let block = Block::allocate_pinned(&Context::primary(0)?, 4)?;
    /// // SAFETY: 4 bytes of the host, which nobody else uses.
    /// let bytes = unsafe { &mut *(block.private_address() as *mut [u8; 4]) };
    /// *bytes = [1, 2, 3, 4];
    /// assert_eq!((block.size(), bytes[3]), (4, 4));
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_OUT_OF_MEMORY` when the driver cannot pin that much memory; an error when the context is
    /// gone.
    pub fn allocate_pinned(context: &Context, size: usize) -> CudaResult<Self> {
        Self::allocate_from(context, Source::Pinned, size as u64, Placement::Packed)
    }

    fn allocate_from(
        context: &Context,
        source: Source,
        size: u64,
        placement: Placement,
    ) -> CudaResult<Self> {
        let place = context.place(source, size, placement)?;
        if source == Source::Device {
            history::record_allocations(context.device().number(), iter::once((place.0, size)));
        }
        zeroing::prepared(Self::new(context, source, place, size))
    }

    /// Allocates blocks of these sizes, each more than 0, one after the other in one piece of
    /// memory.  Each is aligned to 512 bytes, and is released by itself.
    ///
    /// ```
    /// use arrow_cuda_context::{Block, Context};
    ///
    /// let blocks = Block::suballocate(&Context::primary(0)?, &[1, 600, 5])?;
    /// let start = blocks[0].private_address();
    /// assert_eq!(blocks[1].private_address() - start, 512);
    /// assert_eq!(blocks[2].private_address() - start, 512 + 1024);
    /// # Ok::<(), arrow_cuda_driver::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`allocate`](Self::allocate).
    pub fn suballocate(context: &Context, sizes: &[u64]) -> CudaResult<Vec<Self>> {
        if sizes.is_empty() {
            return Ok(Vec::new());
        }
        let source = Source::Device;
        let whole = sizes.iter().map(|size| aligned(*size)).fold(0, u64::saturating_add);
        let (mut next, segment) = context.place(source, whole, Placement::Packed)?;
        context.pool(source).with_ledger(|ledger| ledger.divide(next, sizes))?;
        let blocks = sizes.iter().map(|size| {
            let block = Self::new(context, source, (next, segment), *size);
            next += aligned(*size);
            block
        });
        // All of them exist before one of them could fail.
        let blocks: Vec<_> = blocks.collect();
        let places = blocks.iter().map(|block| (block.address, block.size));
        history::record_allocations(context.device().number(), places);
        blocks.into_iter().map(zeroing::prepared).collect()
    }
}

impl Context {
    pub(super) fn place(
        &self,
        source: Source,
        size: u64,
        placement: Placement,
    ) -> CudaResult<BlockAddress> {
        let pool = self.pool(source);
        // Memory that outlives its context is reused without a call of the driver.
        let enter = || self.enter_or_abandon();
        let entered = (!source.outlives_context()).then(enter).transpose()?;
        let found = pool.with_ledger(|ledger| ledger.reuse(&ledger.request(size, placement)))?;
        if let Some(place) = found {
            return Ok(place);
        }
        let current = entered.map_or_else(enter, Ok)?;
        Cache::of(self, source).limit()?;
        let request = pool.with_ledger(|ledger| {
            ledger.caches_nothing = !self.may_cache();
            ledger.request(size, placement)
        })?;
        match pool.reuse(&current, &request)? {
            Some(place) => Ok(place),
            None => {
                let outcome = self.allocate_from_driver(pool, &current, request);
                outcome.map_err(|error| match source {
                    Source::Device => error.on_device(|| memory_of(&current)),
                    Source::Pinned | Source::Pages => error,
                })
            }
        }
    }

    fn allocate_from_driver(
        &self,
        pool: &Pool,
        current: &Current<'_>,
        mut request: Request,
    ) -> CudaResult<BlockAddress> {
        let mut size = pool.with_ledger(|ledger| {
            ledger.count_miss(&request);
            ledger.segment_size(&request)
        })?;
        // Others want device memory, too.  Pinned memory is limited to a small part of the machine's, and
        // takes milliseconds to pin.
        let needed = if pool.source == Source::Device { size } else { 0 };
        self.free_surplus(pool, current, needed)
            .map_err(|error| error.while_allocating(request.size))?;
        let mut attempts = MAX_ATTEMPTS;
        loop {
            match pool.source.obtain(current, size) {
                Ok(address) => {
                    RANGES[pool.source as usize].add(address, size);
                    pool.record_segment(MemoryAction::AllocateSegment, address, size);
                    return pool.with_ledger(|ledger| ledger.add(address, size, &request));
                }
                Err(error) if !error.is_out_of_memory() => {
                    return Err(error.while_allocating(request.size));
                }
                Err(_) if attempts > 0 && self.reclaim(pool, current) => attempts -= 1,
                Err(error) => {
                    // The room that is left may be less than a whole segment.
                    request = request.packed();
                    if request.capacity >= size {
                        return Err(error.while_allocating(request.size));
                    }
                    (size, attempts) = (request.capacity, 0);
                }
            }
            if let Some(place) = pool.with_ledger(|ledger| ledger.reuse(&request))? {
                return Ok(place);
            }
        }
    }

    /// Reclaims memory: gives back everything that this process has cached of it, including what work in
    /// flight retains, once that work is complete.  If that is nothing, waits for what is in flight in
    /// segments that cannot go back.  Returns whether there is more memory now, or was for another thread
    /// meanwhile.
    ///
    /// Where nothing may wait, another thread does that, for later allocations.
    fn reclaim(&self, pool: &Pool, current: &Current<'_>) -> bool {
        let source = pool.source;
        if !source.may_wait() {
            let context = self.clone();
            elsewhere(move || report_failure(source.name(), context.clear_caches(source).1));
            return false;
        }
        let has_completed = !blocking(wait_for_work_in_flight).is_empty();
        let (bytes, has_waited, outcome) = blocking(|| {
            // Memory that another thread is giving back is no longer cached, but not yet free
            // either.
            static ONE_AT_A_TIME: LongLock<()> = LongLock::new(());
            let (_one_at_a_time, has_waited) = match ONE_AT_A_TIME.try_lock() {
                Ok(Some(guard)) => (Ok(guard), false),
                _ => (ONE_AT_A_TIME.lock(), true),
            };
            let (bytes, outcome) = self.clear_caches(source);
            (bytes, has_waited, outcome)
        });
        // Not under the lock: the handler of a failure report may allocate.
        report_failure(source.name(), outcome);
        if bytes > 0 {
            let count = |ledger: &mut Ledger| ledger.account.stats.out_of_memory_retries += 1;
            drop(pool.with_ledger(count));
        }
        bytes > 0
            || has_completed
            || has_waited
            || pool.complete_in_flight(current).is_ok_and(|last| last > 0)
    }

    /// Gives back what is cached of the memory that this source allocates.
    fn clear_caches(&self, source: Source) -> Freed {
        let primaries = match source {
            Source::Device => Self::primaries(),
            Source::Pinned | Source::Pages => return Cache::Pinned.clear(),
        };
        let on_this_device = primaries.iter().filter(|it| it.device() == self.device());
        total(on_this_device.map(|context| context.cache().clear()))
    }
}

impl Pool {
    /// A block of released memory that no work can use any more.
    fn reuse(&self, current: &Current<'_>, request: &Request) -> CudaResult<Option<BlockAddress>> {
        let mut complete = 0;
        let mut is_first = true;
        loop {
            let (found, last_release, has_to_wait) = self.with_ledger(|ledger| {
                ledger.mark_complete(complete);
                let has_to_wait = !self.source.serves_libarrow() && ledger.has_to_wait();
                // The memory in flight must shrink with each iteration.
                let goes_on = is_first || complete > 0 && has_to_wait;
                let found = ledger.reuse(request);
                let goes_on = found.is_none() && goes_on && ledger.may_serve_later(request);
                (found, goes_on.then_some(ledger.last_release), has_to_wait)
            })?;
            let Some(last_release) = last_release else { return Ok(found) };
            // The fences do not cover what is released from here on.
            let (reached, oldest) = self.with_fences(|fences| {
                (fences.complete_up_to(current, last_release), fences.oldest())
            })?;
            complete = match reached {
                Ok(0) if has_to_wait => blocking(|| oldest.map_or(0, |fence| fence.wait())),
                Ok(complete) => complete,
                Err(_) if has_to_wait => wait_for_work(current, last_release),
                Err(_) => 0,
            };
            is_first = false;
        }
    }

    /// Waits for all work that may use released memory.  Returns the number of the last release before it, if any
    /// becomes ready.
    fn complete_in_flight(&self, current: &Current<'_>) -> CudaResult<u64> {
        let (has_in_flight, last_release) =
            self.with_ledger(|ledger| (ledger.has_in_flight(), ledger.last_release))?;
        let complete = if has_in_flight { wait_for_work(current, last_release) } else { 0 };
        self.with_ledger(|ledger| ledger.mark_complete(complete))?;
        Ok(complete)
    }
}

/// The device's free and total memory, for the error of a failed allocation.
fn memory_of(current: &Current<'_>) -> Option<DeviceMemory> {
    let context = current.context();
    let (free, total) = (current.free_memory().ok()?, context.total_memory().ok()?);
    Some(DeviceMemory::new(context.device().number(), free, total))
}

/// Waits for all work in flight, without a fence.  Returns the number of the last release before it; 0
/// if nothing was proven.
fn wait_for_work(current: &Current<'_>, last_release: u64) -> u64 {
    match blocking(|| current.context().await_users()) {
        Ok(_unused) => last_release,
        Err(_) => 0,
    }
}
