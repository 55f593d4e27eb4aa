//! Small copies to the host, through pinned memory of this process.
//!
//! Such a copy is queued behind the work of the legacy default stream, whether there is any or not: to ask takes up to
//! 1.4 of its 8 microseconds, and the driver's own copy of pageable memory 2 more (measured on an H200).  Only a slot
//! waits for the device, and never the caller's memory, so a signal may end the call before the copy.

use crate::copies::{STAGED, await_end};
use crate::{Current, Event, Extension, Slots, StreamHandle};
use arrow_cuda_driver::{CudaResult, LongLock};
use std::ptr;

/// So many copies wait for the device at a time; the driver makes others.
const SLOTS: usize = 4;

#[derive(Default)]
struct SmallDownloads(LongLock<State>);

#[derive(Default)]
struct State {
    /// Each has an event.  They are there until the context is gone.
    slots: Option<Slots>,
    /// Whether no memory can be pinned.
    is_useless: bool,
    free: Vec<usize>,
    /// Slots whose calls have ended before their copies.
    left: Vec<usize>,
}

/// A slot that one copy has.
struct Taken {
    number: usize,
    start: *mut u8,
    end: Event,
}

impl Extension for SmallDownloads {
    fn abandon(&self) {
        // The events own the context.  Dropped after the lock.
        let state = self.0.lock().map(|mut state| std::mem::take(&mut *state));
        drop(state);
    }
}

impl Current<'_> {
    /// The size in bytes of the largest copy that goes through a slot.
    pub const SMALL: usize = 4 * STAGED;

    /// Copies a few bytes to the host, after the work of the legacy default stream.  Returns false, and copies nothing,
    /// if there are more than [`SMALL`](Self::SMALL), or no slot for them.
    ///
    /// ```
    /// use arrow_cuda_context::{Block, Context, Placement};
    ///
    /// let context = Context::primary(0)?;
    /// let (block, current) = (Block::allocate(&context, 4, Placement::Packed)?, context.enter()?);
    /// let (address, mut out) = (block.private_address(), [0; 4]);
    /// // SAFETY: live ranges of 4 bytes, which nobody else uses.
    /// unsafe {
    ///     current.fill_memory(address, 7, 4)?;
    ///     if !current.copy_small_to_host(out.as_mut_ptr(), address, 4)? {
    ///         current.copy_to_host(out.as_mut_ptr(), address, 4)?;
    ///     }
    /// }
    /// assert_eq!(out, [7; 4]);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Safety
    ///
    /// Both ranges must be live, and `out` must be the caller's to write.  After an error, the device may still read
    /// `from`, at any time.
    ///
    /// # Errors
    ///
    /// [`CudaError::Interrupted`](arrow_cuda_driver::CudaError::Interrupted) if a signal has ended the call; driver
    /// errors: of this call, and of earlier work.
    pub unsafe fn copy_small_to_host(
        &self,
        out: *mut u8,
        from: u64,
        size: usize,
    ) -> CudaResult<bool> {
        // The events of another library's context would keep that for good.
        if size > Self::SMALL || !self.context().is_primary() {
            return Ok(false);
        }
        self.await_stream_in_place_of(StreamHandle::DEFAULT)?;
        self.raw_stream(StreamHandle::DEFAULT)?; // nor may it begin where it would end a capture
        let downloads = self.context().own_extension(SmallDownloads::default);
        let Some(slot) = downloads.take(self)? else { return Ok(false) };
        // SAFETY: guaranteed by the caller; the slot is this copy's alone.
        let queued =
            unsafe { self.queue_copy_to_host(slot.start, from, size, StreamHandle::DEFAULT) };
        // Where even that fails, nobody knows any more when the device has left the slot.
        let recorded = self.record(&slot.end, StreamHandle::DEFAULT);
        if recorded.is_err() {
            return queued.and(recorded).map(|()| false);
        }
        let ended =
            queued.and_then(|()| await_end(|| self.is_reached(&slot.end), || slot.end.wait()));
        if ended.is_ok() {
            // SAFETY: the device has written the slot; guaranteed by the caller.
            unsafe { ptr::copy_nonoverlapping(slot.start, out, size) };
        }
        downloads.give_back(&slot, ended.is_ok())?;
        ended.map(|()| true)
    }
}

impl SmallDownloads {
    /// A slot, if one is free.  None while a copy is left, behind which others would wait as long.
    fn take(&self, current: &Current<'_>) -> CudaResult<Option<Taken>> {
        let mut state = self.0.lock()?;
        state.reclaim(current);
        if !state.left.is_empty() {
            return Ok(None);
        }
        state.prepare(current);
        let Some(number) = state.free.pop() else { return Ok(None) };
        let taken = |slots: &Slots| Taken {
            number,
            start: slots.slot(number),
            end: slots.end(number).clone(),
        };
        Ok(state.slots.as_ref().map(taken))
    }

    fn give_back(&self, slot: &Taken, is_free: bool) -> CudaResult<()> {
        let mut state = self.0.lock()?;
        let State { free, left, .. } = &mut *state;
        if is_free { free } else { left }.push(slot.number);
        Ok(())
    }
}

impl State {
    /// Frees the slots whose copies have ended meanwhile.
    fn reclaim(&mut self, current: &Current<'_>) {
        let Some(slots) = &self.slots else { return };
        let is_reached = |number: &mut usize| current.is_reached(slots.end(*number)) == Ok(true);
        self.free.extend(self.left.extract_if(.., is_reached));
    }

    /// Makes the slots, unless the default stream is busy: to pin memory, drivers may wait for all work.
    fn prepare(&mut self, current: &Current<'_>) {
        let is_due = self.slots.is_none() && !self.is_useless;
        if is_due && current.is_stream_complete(StreamHandle::DEFAULT) == Ok(true) {
            self.slots = Slots::pinned(current, SLOTS, Current::SMALL, SLOTS);
            self.is_useless = self.slots.is_none();
            self.free = (0..SLOTS).collect();
        }
    }
}
