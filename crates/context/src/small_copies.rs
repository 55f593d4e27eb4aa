//! Small copies to blocks that nobody else knows: a call returns while the device is at work on its copy.
//!
//! The data waits in pinned memory, and the copy is on the legacy default stream, as all work of this project
//! without a stream.  So its end matters only to those who reach the memory in another way: by its address,
//! or on another stream.  They await the end of all such copies first; otherwise every call would wait 5 of
//! its 8 microseconds (measured on an H100).

use crate::copies::STAGED;
use crate::{Block, Current, Event, Extension, Slots, StreamHandle};
use arrow_cuda_driver::{CudaResult, LongLock, blocking, is_forked_child};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// At most this many copies are left to the device at a time, each with a slot of pinned memory.
const SLOTS: u64 = 16;
/// An idle device makes `SLOTS` copies within this time, if nobody else queues work.  Until then the default
/// stream still counts as idle: it is busy with them.  Whoever awaits them also awaits work that others have
/// queued on that stream meanwhile.
const SHORT: Duration = Duration::from_micros(50);

#[derive(Default)]
struct SmallCopies {
    state: LongLock<State>,
    /// How many were queued so far.
    queued: AtomicU64,
    /// How many of these were awaited.
    awaited: AtomicU64,
}

#[derive(Default)]
struct State {
    /// They are there until the context is gone.  Their one event is recorded after each copy.
    slots: Option<Slots>,
    /// Whether no memory can be pinned, or a copy has failed, which may still read its slot.
    is_useless: bool,
    /// When the default stream was idle.
    idle: Option<Instant>,
}

impl Extension for SmallCopies {
    fn abandon(&self) {
        // The event owns the context.  Dropped after the lock.
        let state = self.state.lock().map(|mut state| std::mem::take(&mut *state));
        drop(state);
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
    /// ```
    /// use arrow_cuda_context::{Block, Context, Placement};
    ///
    /// let context = Context::primary(0)?;
    /// let (block, current) = (Block::allocate(&context, 4, Placement::Packed)?, context.enter()?);
    /// let (address, data, mut out) = (block.private_address(), [1, 2, 3, 4], [0; 4]);
    /// // SAFETY: live ranges of 4 bytes, which nobody else uses.
    /// unsafe {
    ///     if !current.copy_into_private(&block, address, data.as_ptr(), 4)? {
    ///         current.copy_from_host(address, data.as_ptr(), 4)?;
    ///     }
    ///     current.copy_to_host(out.as_mut_ptr(), address, 4)?; // awaits the small copy
    /// }
    /// assert_eq!(out, data);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
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
        let mut state = self.state.lock()?;
        if self.under_way() >= SLOTS || !state.is_idle(current) {
            return Ok(false);
        }
        let number = self.queued.load(Ordering::SeqCst) % SLOTS;
        let Some(slots) = state.prepared(current) else { return Ok(false) };
        let slot = slots.slot(number as usize);
        // SAFETY: guaranteed by the caller; the slot's last copy was awaited, and the lock makes it this one's.
        let queued = unsafe {
            ptr::copy_nonoverlapping(data, slot, size);
            current.queue_copy_from_host(to, slot, size, StreamHandle::DEFAULT)
        };
        let ended = queued.and_then(|()| current.record(slots.end(0), StreamHandle::DEFAULT));
        state.is_useless = ended.is_err();
        ended?;
        self.queued.fetch_add(1, Ordering::SeqCst);
        Ok(true)
    }

    fn await_end(&self) -> CudaResult<()> {
        let end = self.state.lock()?.slots.as_ref().map(|slots| slots.end(0).clone());
        let Some(end) = end else { return Ok(()) };
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

impl State {
    /// Whether the default stream is idle, or was just before.
    fn is_idle(&mut self, current: &Current<'_>) -> bool {
        if self.idle.is_none_or(|since| since.elapsed() > SHORT) {
            let is_idle = current.is_stream_complete(StreamHandle::DEFAULT) == Ok(true);
            self.idle = is_idle.then(Instant::now);
        }
        self.idle.is_some()
    }

    /// The slots, with their event; none if there can be none.
    fn prepared(&mut self, current: &Current<'_>) -> Option<&Slots> {
        if self.slots.is_none() && !self.is_useless {
            self.slots = Slots::pinned(current, SLOTS as usize, STAGED, 1);
            self.is_useless = self.slots.is_none();
        }
        self.slots.as_ref().filter(|_| !self.is_useless)
    }
}
