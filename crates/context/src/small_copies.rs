//! Small copies to blocks that nobody else knows: a call returns while the device is at work on its copy.
//!
//! The data waits in pinned memory, and the copy is on the legacy default stream, as all work of this project
//! without a stream.  So its end matters only to those who reach the memory in another way: by its address,
//! or on another stream.  They await the end of all such copies first; otherwise every call would wait 5 of
//! its 8 microseconds (measured on an H100).

use crate::copies::STAGED;
use crate::{Block, Current, Event, Extension, Pages, StreamHandle};
use arrow_cuda_driver::{CudaResult, LongLock, blocking, is_forked_child};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// At most so many copies are left to the device at a time, each with a slot of pinned memory.
const SLOTS: u64 = 16;
/// An idle device makes so many copies within this time, so long as nobody else queues work.  Until then the
/// default stream still counts as idle: it is busy with them.  Whoever awaits them also awaits work that
/// others have queued on that stream meanwhile.
const SHORT: Duration = Duration::from_micros(50);

#[derive(Default)]
struct SmallCopies {
    slots: LongLock<Slots>,
    /// How many were queued so far.
    queued: AtomicU64,
    /// How many of these were awaited.
    awaited: AtomicU64,
}

#[derive(Default)]
struct Slots {
    /// Pinned memory, which is there until the context is gone.
    pages: Option<Pages>,
    /// Whether no memory can be pinned, or a copy has failed, which may still read its slot.
    is_useless: bool,
    /// Recorded behind each copy.
    end: Option<Event>,
    /// When the default stream was idle.
    idle: Option<Instant>,
}

impl Extension for SmallCopies {
    fn abandon(&self) {
        // The event owns the context.  Dropped after the lock.
        let slots = self.slots.lock().map(|mut slots| std::mem::take(&mut *slots));
        drop(slots);
    }

    fn await_deferred(&self) -> CudaResult<()> {
        let queued = self.queued.load(Ordering::SeqCst);
        // In a forked child there is nothing to wait for.
        if self.awaited.load(Ordering::Acquire) < queued && !is_forked_child() {
            self.await_end()?;
            self.awaited.fetch_max(queued, Ordering::Release);
        }
        Ok(())
    }
}

impl Current<'_> {
    /// Copies a few bytes of the host into a block, without a wait for the device.  Returns false, and
    /// copies nothing, if there are too many, if the block is exposed, since those who know its address must
    /// find the data there when the call returns, or if the default stream is busy: other streams would have
    /// to wait for its work.
    ///
    /// # Safety
    ///
    /// `data` must be readable for `size` bytes, and as many at `to` must lie in the block and be the
    /// caller's to write.
    ///
    /// # Errors
    ///
    /// Driver errors.  The copy may be made all the same, at any time.
    pub unsafe fn copy_into_private(
        &self,
        block: &Block,
        to: u64,
        data: *const u8,
        size: usize,
    ) -> CudaResult<bool> {
        // The event of another library's context would keep that for good.
        if size > STAGED || block.is_exposed() || !self.context().is_primary() {
            return Ok(false);
        }
        self.await_stream_in_place_of(StreamHandle::DEFAULT)?;
        let copies = self.context().own_extension(SmallCopies::default);
        if copies.under_way() >= SLOTS {
            copies.await_deferred()?;
        }
        // SAFETY: guaranteed by the caller.
        if !unsafe { copies.queue(self, to, data, size) }? {
            return Ok(false);
        }
        if block.is_exposed() {
            // Whoever has exposed it meanwhile may have found nothing to wait for.
            copies.await_deferred()?;
        }
        Ok(true)
    }
}

impl SmallCopies {
    fn under_way(&self) -> u64 {
        let awaited = self.awaited.load(Ordering::Acquire);
        self.queued.load(Ordering::SeqCst) - awaited
    }

    /// Queues a copy if the default stream is idle and there is a slot.  Returns whether it did.
    ///
    /// # Safety
    ///
    /// As for [`copy_into_private`](Current::copy_into_private), with at most `STAGED` bytes.
    unsafe fn queue(
        &self,
        current: &Current<'_>,
        to: u64,
        data: *const u8,
        size: usize,
    ) -> CudaResult<bool> {
        let mut slots = self.slots.lock()?;
        if self.under_way() >= SLOTS || !slots.is_idle(current) {
            return Ok(false);
        }
        let number = self.queued.load(Ordering::SeqCst) % SLOTS;
        let Some((start, end)) = slots.prepared(current) else { return Ok(false) };
        // SAFETY: guaranteed by the caller; the slot's last copy was awaited, and the lock makes it this one's.
        let queued = unsafe {
            let slot = start.add(number as usize * STAGED);
            ptr::copy_nonoverlapping(data, slot, size);
            current.queue_copy_from_host(to, slot, size, StreamHandle::DEFAULT)
        };
        queued.and_then(|()| current.record(&end, StreamHandle::DEFAULT)).inspect_err(|_| {
            slots.is_useless = true;
        })?;
        self.queued.fetch_add(1, Ordering::SeqCst);
        Ok(true)
    }

    fn await_end(&self) -> CudaResult<()> {
        let Some(end) = self.slots.lock()?.end.clone() else { return Ok(()) };
        match wait_for(&end) {
            // The memory has gone with it.
            Err(error) if end.context().is_gone(&error) => Ok(()),
            awaited => awaited,
        }
    }
}

fn wait_for(end: &Event) -> CudaResult<()> {
    let (current, began) = (end.context().enter()?, Instant::now());
    while began.elapsed() < SHORT {
        if current.is_reached(end) == Ok(true) {
            return Ok(());
        }
    }
    blocking(|| end.wait())
}

impl Slots {
    /// Whether the default stream is idle, or was just before.
    fn is_idle(&mut self, current: &Current<'_>) -> bool {
        if self.idle.is_none_or(|since| since.elapsed() > SHORT) {
            let is_idle = current.is_stream_complete(StreamHandle::DEFAULT) == Ok(true);
            self.idle = is_idle.then(Instant::now);
        }
        self.idle.is_some()
    }

    /// Where the slots begin, and the event; none if there can be none.
    fn prepared(&mut self, current: &Current<'_>) -> Option<(*mut u8, Event)> {
        if self.is_useless {
            return None;
        }
        if self.pages.is_none() {
            self.pages = pinned(current);
            self.is_useless = self.pages.is_none();
        }
        if self.end.is_none() {
            self.end = Event::new_in(current).ok();
        }
        self.pages.as_ref().map(Pages::start).zip(self.end.clone())
    }
}

/// Memory for all slots; none if none can be pinned.
fn pinned(current: &Current<'_>) -> Option<Pages> {
    let pages = Pages::map(SLOTS as usize * STAGED)?;
    pages.withhold_from_children(); // which have no use for it
    // SAFETY: the pages stay mapped as long as the context lives.
    unsafe { current.pin_host_memory(pages.start(), pages.size()) }.ok()?;
    Some(pages)
}
