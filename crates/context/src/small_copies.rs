//! Small copies to blocks that nobody else knows: a call returns while the device is at work on its copy.
//!
//! The driver has the data by then, and the copy is on the legacy default stream, as all work of this project
//! without a stream.  So its end matters only to those who reach the memory in another way: by its address,
//! or on another stream.  They await the end of all such copies first; otherwise every call would wait 5 of
//! its 8 microseconds (measured on an H100).

use crate::{Block, Context, Current, Event, Extension, StreamHandle};
use arrow_cuda_driver::{CudaResult, Lock, blocking, is_forked_child};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// An idle device makes a few such copies within this time.  So long it also counts as idle, but for such
/// copies, since their number is bounded then.
const SHORT: Duration = Duration::from_micros(50);

#[derive(Default)]
struct SmallCopies {
    /// Recorded behind each of them.
    end: Lock<Option<Event>>,
    /// When the default stream was idle.
    idle: Lock<Option<Instant>>,
    /// How many were queued so far.
    queued: AtomicU64,
    /// How many of these were awaited.
    awaited: AtomicU64,
}

impl Extension for SmallCopies {
    fn abandon(&self) {
        // The event owns the context.  Dropped after the lock.
        let end = self.end.lock().map(|mut end| end.take());
        drop(end);
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
    /// Driver errors.
    pub unsafe fn copy_into_private(
        &self,
        block: &Block,
        to: u64,
        data: *const u8,
        size: usize,
    ) -> CudaResult<bool> {
        // The event of another library's context would keep that for good.
        if !Self::is_staged(size) || block.is_exposed() || !self.context().is_primary() {
            return Ok(false);
        }
        let copies = self.context().own_extension(SmallCopies::default);
        if !copies.is_idle(self)? {
            return Ok(false);
        }
        // SAFETY: guaranteed by the caller.
        unsafe { self.queue_staged(to, data, size) }?;
        if copies.end(self).and_then(|end| self.record(&end, StreamHandle::DEFAULT)).is_err() {
            self.await_end(StreamHandle::DEFAULT)?;
            return Ok(true);
        }
        copies.queued.fetch_add(1, Ordering::SeqCst);
        if block.is_exposed() {
            // Whoever has exposed it meanwhile may have found nothing to wait for.
            self.context().await_small_copies()?;
        }
        Ok(true)
    }
}

impl Context {
    /// Waits for the copies that calls have left to the device.
    ///
    /// # Errors
    ///
    /// When the context is gone; errors of the device's work.
    pub(crate) fn await_small_copies(&self) -> CudaResult<()> {
        let Some(copies) = self.extension::<SmallCopies>() else { return Ok(()) };
        let queued = copies.queued.load(Ordering::SeqCst);
        // In a forked child there is nothing to wait for.
        if copies.awaited.load(Ordering::Acquire) < queued && !is_forked_child() {
            match copies.await_end(self) {
                // The memory has gone with it.
                Err(error) if self.is_gone(&error) => {}
                awaited => awaited?,
            }
            copies.awaited.fetch_max(queued, Ordering::Release);
        }
        Ok(())
    }
}

impl SmallCopies {
    /// Whether the default stream is idle, or was just before.
    fn is_idle(&self, current: &Current<'_>) -> CudaResult<bool> {
        let mut idle = self.idle.lock()?;
        if idle.is_none_or(|since| since.elapsed() > SHORT) {
            let is_idle = current.is_stream_complete(StreamHandle::DEFAULT) == Ok(true);
            *idle = is_idle.then(Instant::now);
        }
        Ok(idle.is_some())
    }

    fn end(&self, current: &Current<'_>) -> CudaResult<Event> {
        if let Some(end) = &*self.end.lock()? {
            return Ok(end.clone());
        }
        let new = Event::new(current.context())?;
        Ok(self.end.lock()?.get_or_insert(new).clone())
    }

    fn await_end(&self, context: &Context) -> CudaResult<()> {
        let Some(end) = self.end.lock()?.clone() else { return Ok(()) };
        let (current, began) = (context.enter()?, Instant::now());
        let _disregarded = current.disregard_captures();
        while began.elapsed() < SHORT {
            if current.is_reached(&end) == Ok(true) {
                return Ok(());
            }
        }
        blocking(|| end.wait())
    }
}
