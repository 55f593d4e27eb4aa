//! Returning memory: blocks to the ledger, segments to the driver.

use super::ledger::{Ledger, Segment};
use super::pools::{Pool, elsewhere};
use super::{Cache, MemoryAction, Source, history};
use crate::{Context, Current, Unused, contexts};
use arrow_cuda_driver::{CudaResult, blocking, holds_interpreter, may_release, report_failure};
use std::mem;

/// How many bytes the driver has freed, and the first failure.
pub(super) type Freed = (u64, CudaResult<()>);

/// Segments that a ledger has removed.
#[derive(Default)]
pub(super) struct Removed {
    segments: Vec<Segment>,
    /// The proof that no work uses them, once it is known.
    unused: Option<Unused>,
}

impl From<Vec<Segment>> for Removed {
    fn from(segments: Vec<Segment>) -> Self {
        Self { segments, unused: None }
    }
}

impl Removed {
    fn may_have_users(&self) -> bool {
        self.segments.iter().any(|segment| segment.may_have_users)
    }
}

pub(super) fn total(each: impl IntoIterator<Item = Freed>) -> Freed {
    each.into_iter().fold((0, Ok(())), |sum, it| (sum.0 + it.0, sum.1.and(it.1)))
}

impl Cache<'_> {
    /// Sets how many bytes of released memory are cached from now on; 0 for none.  Memory that exceeds the limit goes
    /// back to the driver, large segments first.
    ///
    /// The limit is `PYARROW_CUDA_CACHE` or `PYARROW_CUDA_PINNED_CACHE` at first: a number of bytes (`K`, `M` and
    /// `G` are powers of 1024), `0` or `off`.  Without that, a context caches an eighth of the device's memory, and
    /// the process 1/16 of the machine's pinned, at most 1 GiB.
    ///
    /// ```
    /// use arrow_cuda_context::{Block, Context, Placement};
    ///
    /// let context = Context::primary(0)?;
    /// context.cache().set_limit(0)?;
    /// drop(Block::allocate(&context, 1000, Placement::Packed)?);
    /// assert_eq!(context.cache().stats()?.cached_bytes, 0);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// In a forked child, or if a context cannot be entered: nothing was released there then.  Or the first error of a
    /// release, once all were tried.
    pub fn set_limit(self, bytes: u64) -> CudaResult<()> {
        match self {
            Self::Device(context) if !context.may_cache() => return self.with_account(|_| ()),
            // A device's is set below: it stays as it is if the context cannot be entered.
            Self::Device(_) => {}
            Self::Pinned => self.with_account(|account| account.limit = Some(bytes))?,
        }
        let set = |ledger: &mut Ledger| {
            ledger.account.limit = Some(bytes);
            ledger.remove_beyond_limit()
        };
        self.free_removed(|pool, _| pool.with_ledger(set).map(Removed::from)).1
    }

    /// Gives all cached memory back to the driver, for other libraries and processes, and returns its size in bytes.
    /// Waits for all work of the devices.
    ///
    /// ```
    /// use arrow_cuda_context::{Block, Context, Placement};
    ///
    /// let context = Context::primary(0)?;
    /// drop(Block::allocate(&context, 1000, Placement::Packed)?);
    /// let cached = context.cache().stats()?.cached_bytes;
    /// assert_eq!(context.cache().empty()?, cached);
    /// assert_eq!(context.cache().stats()?.cached_bytes, 0);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
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
            pool.with_ledger(Ledger::clear).map(Removed::from)
        })
    }

    /// Has the driver free segments that `remove` takes from each ledger.
    pub(super) fn free_removed(
        self,
        remove: impl Fn(&Pool, &Current<'_>) -> CudaResult<Removed>,
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
    /// Releases the block that contains an address, even if the context was destroyed.
    pub(super) fn release_block(
        &self,
        source: Source,
        address: u64,
        is_exposed: bool,
    ) -> CudaResult<()> {
        let is_complete = self.pool(source).with_ledger(|ledger| {
            let released = ledger.release(address, is_exposed);
            if let Some(block) = released.filter(|_| source == Source::Device) {
                history::record_release(self.device().number(), block);
            }
            ledger.finished.is_empty() && !ledger.exceeds_limit()
        })?;
        if is_complete {
            return Ok(());
        }
        if source.serves_libarrow() {
            self.free_rest_elsewhere(source);
            return Ok(());
        }
        self.free_rest(source)
    }

    /// Frees cached segments beyond the limit, before the driver allocates `needed` bytes.
    pub(super) fn free_surplus(
        &self,
        pool: &Pool,
        current: &Current<'_>,
        needed: u64,
    ) -> CudaResult<()> {
        if pool.source.serves_libarrow() {
            if pool.with_ledger(|ledger| ledger.has_surplus(needed))? {
                self.free_rest_elsewhere(pool.source);
            }
            return Ok(());
        }
        let removed = pool.surplus(current, needed)?;
        match removed.segments.is_empty() {
            true => Ok(()),
            false => blocking(|| pool.free(current, &removed).1),
        }
    }

    fn free_rest_elsewhere(&self, source: Source) {
        let context = self.clone();
        elsewhere(move || report_failure(source.name(), context.free_rest(source)));
    }

    /// Frees what a release has left over: retired segments, and cached memory beyond the limit, which may be in
    /// other pools that share it.
    fn free_rest(&self, source: Source) -> CudaResult<()> {
        let (has_finished, exceeds_limit) = self
            .pool(source)
            .with_ledger(|ledger| (!ledger.finished.is_empty(), ledger.exceeds_limit()))?;
        let mut freed = (0, Ok(()));
        if has_finished {
            let take = |pool: &Pool, _: &Current<'_>| {
                pool.with_ledger(Ledger::take_finished).map(Removed::from)
            };
            freed = self.free_removed(source, take);
        }
        if exceeds_limit {
            let surplus = Cache::of(self, source).free_removed(|pool, it| pool.surplus(it, 0));
            freed = total([freed, surplus]);
        }
        freed.1
    }

    /// Has the driver free segments that `remove` takes from the ledger.  This may wait for all work of the device.
    ///
    /// If the context cannot be entered, nothing is removed: it would be lost.
    pub(super) fn free_removed(
        &self,
        source: Source,
        remove: impl FnOnce(&Pool, &Current<'_>) -> CudaResult<Removed>,
    ) -> Freed {
        if !may_release() {
            return (0, Ok(()));
        }
        let pool = self.pool(source);
        let free = |current: Current<'_>| Ok(pool.free(&current, &remove(pool, &current)?));
        blocking(|| match self.enter_or_abandon().and_then(free) {
            Ok(freed) => freed,
            // The driver has freed all memory of a context that is gone.
            Err(error) if self.is_gone(&error) => (0, Ok(())),
            Err(error) => (0, Err(error)),
        })
    }

    /// Enters the context, unless it is gone: all that is known of its memory is then forgotten.
    pub(super) fn enter_or_abandon(&self) -> CudaResult<Current<'_>> {
        self.enter().inspect_err(|error| match self.is_gone(error) {
            false => {}
            // Which may wait: work of other contexts may use the memory.
            true if holds_interpreter() => {
                let context = self.clone();
                elsewhere(move || context.abandon());
            }
            true => self.abandon(),
        })
    }
}

impl Pool {
    /// Has the driver free segments that the ledger has removed, once nobody uses them.
    pub(super) fn free(&self, current: &Current<'_>, removed: &Removed) -> Freed {
        let waited = match (&removed.unused, removed.may_have_users()) {
            // Device memory, before whose release the driver waits for this context.
            (None, true) if self.source == Source::Device => current.context().await_other_users(),
            (None, true) => current.context().await_users(),
            // SAFETY: a fence follows their releases, or work of this package alone has used them, which is complete.
            _ => Ok(unsafe { Unused::promised() }),
        };
        let free_each = removed.segments.iter().map(|segment| {
            // Another thread may get the memory as soon as it is free.
            let Segment { address, capacity, .. } = *segment;
            self.record_segment(MemoryAction::FreeSegment, address, capacity);
            // SAFETY: the segment was allocated in this live context, and the ledger has removed it,
            // once.
            let freed = waited
                .as_ref()
                .map_err(Clone::clone)
                .and_then(|unused| unsafe { self.source.give_back(current, segment, unused) });
            if freed.is_err() {
                self.record_segment(MemoryAction::AllocateSegment, address, capacity);
                drop(self.with_ledger(|ledger| match waited {
                    // Nothing was tried, so a later release tries again.
                    Err(_) => ledger.postpone(segment),
                    Ok(_) => ledger.restore_segment(segment),
                }));
            }
            (if freed.is_ok() { segment.capacity } else { 0 }, freed)
        });
        total(free_each)
    }

    /// Takes out of the ledger what is not worth keeping if the driver is to allocate `needed` bytes.  This
    /// does not wait: while the device is busy, it is left to a later call.
    pub(super) fn surplus(&self, current: &Current<'_>, needed: u64) -> CudaResult<Removed> {
        let (has_surplus, last_release) =
            self.with_ledger(|ledger| (ledger.has_surplus(needed), ledger.last_release))?;
        if !has_surplus {
            return Ok(Removed::default());
        }
        let complete = self.with_fences(|fences| fences.all_complete(current, last_release))?;
        self.with_ledger(|ledger| match complete {
            Ok(Some((complete, unused))) => {
                ledger.mark_complete(complete);
                Removed { segments: ledger.take_surplus(needed), unused: Some(unused) }
            }
            Ok(None) => Removed::default(),
            // Without events, a wait is the only evidence.
            Err(_) => ledger.remove_beyond_limit().into(),
        })
    }
}
