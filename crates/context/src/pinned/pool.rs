//! The pool of pinned memory that the process has: one ledger, one limit.

use super::ledger::{Home, Ledger, Source};
use super::limit::default_limit;
use super::{PinnedMemoryStats, segments};
use crate::streams::Fences;
use crate::{Context, Extension};
use arrow_cuda_driver::{CudaResult, Lock};
use std::convert::Infallible;

/// Code under this lock neither calls the driver nor waits for the GIL: a release, on any thread,
/// holds it for some nanoseconds.
static LEDGER: Lock<Option<Ledger>> = Lock::new(None);
/// Taken before the ledger's lock.
pub(super) static FENCES: Lock<Fences> = Lock::new(Fences::new());

/// Reads or changes the books.
pub(super) fn with_ledger<T>(work: impl FnOnce(&mut Ledger) -> T) -> CudaResult<T> {
    Ok(work(LEDGER.lock()?.get_or_insert_default()))
}

/// Sets the default limit, unless there is one.
pub(super) fn ensure_limit() -> CudaResult<()> {
    if with_ledger(|ledger| ledger.limit().is_none())? {
        let bytes = default_limit(); // not under the lock: it may read a file
        with_ledger(|ledger| {
            if ledger.limit().is_none() {
                let evicted = ledger.set_limit(bytes);
                debug_assert!(evicted.is_empty(), "nothing is cached before there is a limit");
            }
        })?;
    }
    Ok(())
}

/// Gives up a context's blocks with the context: those of this identity.
struct Blocks((usize, u64));

impl Extension for Blocks {
    fn abandon(&self) {
        for source in [Source::Driver, Source::Pages] {
            let home = Home { context: self.0, source };
            // In a forked child nothing can be saved.
            let left = with_ledger(|ledger| ledger.abandon(home)).unwrap_or_default();
            segments::unmap_all(&left);
        }
    }
}

/// Has the ledger give up the blocks of a context when it is found to be gone.
pub(super) fn follow(context: &Context) {
    let followed = context.extension_or(|| Ok::<_, Infallible>(Blocks(context.identity())));
    followed.map(drop).unwrap_or_else(|never| match never {});
}

/// How much pinned host memory is and was in use and cached, and how often cached memory was reused.
///
/// # Errors
///
/// In a forked child.
pub fn pinned_memory_stats() -> CudaResult<PinnedMemoryStats> {
    ensure_limit()?;
    with_ledger(|ledger| ledger.stats())
}

/// Lets both peaks of the statistics begin again, at what is allocated and reserved now.
///
/// # Errors
///
/// In a forked child.
pub fn reset_peak_pinned_memory_stats() -> CudaResult<()> {
    with_ledger(Ledger::reset_peaks)
}

/// Sets how many bytes of released pinned memory the process caches from now on; 0 for none.  Blocks
/// that exceed the limit go back to the driver, least recently released first.
///
/// The limit is `PYARROW_CUDA_PINNED_CACHE` at first: a number of bytes (`K`, `M` and `G` are powers
/// of 1024), `0` or `off`; without it, 1/16 of the machine's memory, and at most 1 GiB.
///
/// ```
/// use arrow_cuda_context::{Context, pinned_memory_stats, set_pinned_cache_limit};
///
/// set_pinned_cache_limit(0)?;
/// drop(Context::primary(0)?.allocate_pinned(100)?);
/// assert_eq!(pinned_memory_stats()?.cached_bytes, 0);
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
///
/// # Errors
///
/// In a forked child; or the first error of a release, once all were tried.
pub fn set_pinned_cache_limit(bytes: u64) -> CudaResult<()> {
    let evicted = with_ledger(|ledger| ledger.set_limit(bytes))?;
    segments::free(&evicted, None).1
}

/// Gives all cached pinned memory back to the driver, and so to the system, and returns its size in
/// bytes.  Waits for all work of the devices.
///
/// ```
/// use arrow_cuda_context::{Context, empty_pinned_cache, pinned_memory_stats};
///
/// drop(Context::primary(0)?.allocate_pinned(100)?);
/// empty_pinned_cache()?;
/// assert_eq!(pinned_memory_stats()?.cached_bytes, 0);
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
///
/// # Errors
///
/// In a forked child; or the first error of a release, once all were tried.
pub fn empty_pinned_cache() -> CudaResult<u64> {
    let fences = std::mem::take(&mut *FENCES.lock()?);
    drop(fences); // not under the lock: releasing events may block
    let cached = with_ledger(Ledger::clear)?;
    let (bytes, outcome) = segments::free(&cached, None);
    outcome.map(|()| bytes)
}
