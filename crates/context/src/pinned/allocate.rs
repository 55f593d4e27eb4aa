//! How an allocation is served: from an idle block, by the driver, or by the driver once the cache
//! was emptied.

use super::ledger::{Home, IdleLookup, Ledger, Request, Source};
use super::pool::{FENCES, ensure_limit, follow, with_ledger};
use super::{PinnedBlock, lookup, segments};
use crate::exposure::Exposure;
use crate::{Context, Current, zeroing};
use arrow_cuda_driver::{CudaError, CudaResult, report_failure};

impl Context {
    /// Allocates `size` bytes, more than 0, of host memory that is pinned for all contexts.  Their
    /// content is unspecified: zeros, or what this process had in pinned memory before.
    ///
    /// Reuses an idle block of about that size, once no work can touch it any more.  When the driver
    /// cannot pin more, all cached pinned memory goes back to it first.
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_OUT_OF_MEMORY` when the driver cannot pin so much memory; an error when the
    /// context is gone.
    pub fn allocate_pinned(&self, size: usize) -> CudaResult<PinnedBlock> {
        self.allocate_from(Source::Driver, size)
    }

    /// The same in pages of ordinary memory, which the driver pins.  They stay where they are when the
    /// context goes, and a forked child has a copy of them.
    ///
    /// The block begins at a multiple of 2 MiB, and other requests of this kind reuse it.
    ///
    /// # Errors
    ///
    /// As for [`allocate_pinned`](Self::allocate_pinned).
    pub(crate) fn allocate_pages(&self, size: usize) -> CudaResult<PinnedBlock> {
        self.allocate_from(Source::Pages, size)
    }

    fn allocate_from(&self, source: Source, size: usize) -> CudaResult<PinnedBlock> {
        let current = self.enter().inspect_err(|error| {
            if self.is_gone(error) {
                self.abandon();
            }
        })?;
        ensure_limit()?;
        let (home, may_cache) = (Home { context: self.identity(), source }, self.may_cache());
        let request = with_ledger(|ledger| ledger.request(home, size as u64, may_cache))?;
        let (address, capacity) = match reuse_idle(&current, &request)? {
            Some(found) => found,
            None => {
                let address = allocate_from_driver(&current, &request)?;
                follow(self);
                with_ledger(|ledger| ledger.add(address, request))?;
                lookup::extend_range(address, request.capacity);
                (address, request.capacity)
            }
        };
        let (context, exposure) = (self.clone(), Exposure::default());
        let size = request.size;
        let block = PinnedBlock { address, size, capacity, source, context, exposure };
        Ok(zeroing::prepared_pinned(block))
    }
}

/// An idle block that no work can touch any more: its address and its capacity.
fn reuse_idle(current: &Current<'_>, request: &Request) -> CudaResult<Option<(u64, u64)>> {
    let (found, last_release) =
        with_ledger(|ledger| (take(ledger, request), ledger.last_release()))?;
    match found {
        IdleLookup::Hit { address, capacity } => return Ok(Some((address, capacity))),
        IdleLookup::Miss => return Ok(None),
        IdleLookup::InFlight => {}
    }
    // The fences below do not cover blocks that are released from here on.
    let (complete, useless) = {
        let mut fences = FENCES.lock()?;
        (fences.complete_up_to(current, last_release), fences.take_useless())
    };
    drop(useless);
    match complete {
        Ok(number) => with_ledger(|ledger| {
            ledger.mark_complete(number);
            match ledger.reuse(request) {
                IdleLookup::Hit { address, capacity } => Some((address, capacity)),
                IdleLookup::InFlight | IdleLookup::Miss => {
                    ledger.count_miss(request);
                    None
                }
            }
        }),
        Err(_) => {
            let exposed = with_ledger(|ledger| {
                ledger.count_miss(request);
                ledger.refuse_exposed()
            })?;
            report_failure("pinned host memory", segments::free(&exposed, None).1);
            Ok(None)
        }
    }
}

/// Takes an idle block.  Counts a miss, unless evidence may make it a hit.
fn take(ledger: &mut Ledger, request: &Request) -> IdleLookup {
    let found = ledger.reuse(request);
    if found == IdleLookup::Miss {
        ledger.count_miss(request);
    }
    found
}

fn allocate_from_driver(current: &Current<'_>, request: &Request) -> CudaResult<u64> {
    let ask = || {
        let bytes = usize::try_from(request.capacity).unwrap_or(usize::MAX);
        let allocated = match request.home.source {
            Source::Driver => {
                current.allocate_host_memory(bytes).map(|start| start.as_ptr() as u64)
            }
            Source::Pages => segments::pin_pages(current, bytes),
        };
        allocated.map_err(|error| error.while_allocating(request.size))
    };
    let allocated = ask();
    if !allocated.as_ref().is_err_and(CudaError::is_out_of_memory) {
        return allocated;
    }
    let (bytes, outcome) = segments::free(&with_ledger(Ledger::clear)?, None);
    report_failure("pinned host memory", outcome);
    if bytes == 0 {
        return allocated;
    }
    with_ledger(Ledger::count_retry)?;
    ask()
}
