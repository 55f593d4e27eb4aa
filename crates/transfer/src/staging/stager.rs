//! The lanes and streams that the copies of one device share, created on demand.

use super::admission::{Admission, Admitted};
use super::lanes::{Lanes, TakenLane};
use super::mailbox::SPIN_TIME;
use super::plan::Task;
use super::plan::TransferLimits;
use super::pools;
use arrow_cuda_context::{Context, Extension, Stream};
use arrow_cuda_driver::{CudaResult, Lock};
use crossbeam_utils::CachePadded;
use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Threads that are woken for a copy spin for this long after it, and begin the next one at once.
const SOON: Duration = SPIN_TIME;

#[derive(Debug, Default)]
pub(super) struct Stager {
    /// How many bytes the driver has copied so far that the stager could have copied.
    driver_bytes: AtomicUsize,
    copied_bytes: AtomicUsize,
    streams: Lock<Option<Streams>>,
    large_lanes: Lanes,
    small_lanes: Lanes,
    /// Of large copies: up, and down.
    admissions: [Admission; 2],
    copies: AtomicUsize,
    /// When the last copy ended.
    last_end: Lock<Option<Instant>>,
    /// Counts the small copies that the driver makes beside others.
    pub(super) small_copies: CachePadded<AtomicUsize>,
}

#[derive(Clone, Debug)]
pub(super) struct Streams {
    up: Stream,
    down: Stream,
}

impl Streams {
    pub(super) fn of(&self, task: Task) -> &Stream {
        if task == Task::Upload { &self.up } else { &self.down }
    }
}

/// Counts a copy while it is made.
pub(super) struct Counted<'stager> {
    stager: &'stager Stager,
    limits_now: fn() -> TransferLimits,
    /// How many others were being made.
    pub(super) others: usize,
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.stager.copies.fetch_sub(1, Ordering::Relaxed);
        if let Ok(mut last_end) = self.stager.last_end.lock() {
            *last_end = Some(Instant::now());
        }
        if !(self.limits_now)().allow_staging() {
            // The copy began with other limits, and may have created something after the release.
            pools::forget();
            self.stager.release();
        }
    }
}

impl Extension for Stager {
    fn abandon(&self) {
        self.release();
    }
}

impl Stager {
    pub(super) fn of(context: &Context) -> &Self {
        let made = context.extension_or(|| Ok::<_, Infallible>(Self::default()));
        made.unwrap_or_else(|never| match never {})
    }

    /// Whether to create the stager's resources for one more task of `size` bytes.
    pub(super) fn should_start(&self, size: usize, limits: &TransferLimits) -> bool {
        let driver_bytes = self.driver_bytes.load(Ordering::Relaxed);
        if driver_bytes.saturating_add(size) > limits.begin_after {
            return true;
        }
        self.driver_bytes.store(driver_bytes + size, Ordering::Relaxed);
        false
    }

    /// Counts a copy as long as the result lives.
    pub(super) fn count(&self, limits_now: fn() -> TransferLimits) -> Counted<'_> {
        let others = self.copies.fetch_add(1, Ordering::Relaxed);
        Counted { stager: self, limits_now, others }
    }

    /// Whether a copy has just ended, so that more of them are likely to follow.
    pub(super) fn has_just_copied(&self) -> bool {
        let last_end = self.last_end.lock().ok().and_then(|last_end| *last_end);
        last_end.is_some_and(|end| end.elapsed() < SOON)
    }

    /// Counts a small copy, which the driver is about to make, if others are being made that could give
    /// way to it.
    pub(super) fn count_small_copy(&self) {
        if self.copies.load(Ordering::Relaxed) > 0 {
            self.small_copies.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits for the turn of a large copy.  To be kept while the copy is made.
    pub(super) fn admit(&self, task: Task) -> CudaResult<Admitted<'_>> {
        let [up, down] = &self.admissions;
        if task == Task::Upload { up } else { down }.enter()
    }

    /// A lane for a copy of `size` bytes, if there is one.
    pub(super) fn take_lane(
        &self,
        context: &Context,
        size: usize,
        limits: &TransferLimits,
    ) -> Option<TakenLane<'_>> {
        let copied = self.copied_bytes.fetch_add(size, Ordering::Relaxed).saturating_add(size);
        let most = limits.pinned_for_lanes(pools::devices());
        let large = limits.is_worth_large_lane(size, copied).then(|| limits.large_lane().min(most));
        let large = large.and_then(|lane| self.large_lanes.take(context, lane, most));
        let small = limits.small_lane().min(most);
        large.or_else(|| self.small_lanes.take(context, small, most))
    }

    pub(super) fn streams(&self, context: &Context) -> CudaResult<Streams> {
        // Dropped after the lock: to destroy it may wait for Python's GIL, whose holder may wait for the lock.
        let up;
        let mut streams = self.streams.lock()?;
        if let Some(made) = &*streams {
            return Ok(made.clone());
        }
        up = Stream::non_blocking(context)?;
        let down = Stream::non_blocking(context)?;
        Ok(streams.insert(Streams { up: up.clone(), down }).clone())
    }

    /// Releases the resources, once the copies that use them are complete.
    fn release(&self) {
        // In a forked child there is nothing to be released.
        drop(self.streams.lock().map(|mut streams| streams.take()));
        self.large_lanes.release();
        self.small_lanes.release();
    }
}

/// Releases the resources of all stagers, once the copies that use them are complete.
pub(super) fn release_all() {
    for context in Context::primaries() {
        if let Some(stager) = context.extension::<Stager>() {
            stager.release();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn the_end_of_a_copy_is_known() {
        let stager = Stager::default();
        assert!(!stager.has_just_copied());
        drop(stager.count(TransferLimits::of_this_machine));
        assert!(stager.last_end.lock().is_ok_and(|end| end.is_some()));
    }

    /// The limits that it began with are out of date.
    #[test]
    fn a_copy_that_began_before_the_stager_was_switched_off_leaves_nothing() {
        let context = Context::primary(0).expect("a device");
        let (stager, limits) = (Stager::default(), TransferLimits::with_threads(2));
        let copy = stager.count(|| TransferLimits::with_threads(0));
        let taken = stager.take_lane(&context, 1 << 20, &limits);
        let workers = pools::workers_of(context.device(), limits.threads).expect("not a child");
        assert!(taken.is_some() && stager.streams(&context).is_ok());
        let left = Arc::downgrade(&workers);
        drop((taken, workers, copy));
        assert_eq!(stager.small_lanes.pinned(), 0);
        assert!(left.upgrade().is_none(), "the threads have ended");
        assert!(stager.streams.lock().is_ok_and(|streams| streams.is_none()));
    }
}
