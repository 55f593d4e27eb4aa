//! Waits that a signal, such as Ctrl-C, may end.
//!
//! Such a wait polls the driver for completion.  Between two polls, it handles signals.  Their handlers are Python
//! code, which may leave another context current, or reset the device.  So handlers run without the guard of the
//! context, and each poll enters the context again.

use super::in_flight::InFlight;
use crate::{Completed, Context, Current, Event, Stream, StreamHandle, completed};
use arrow_cuda_driver::{CudaResult, Patience};

impl Context {
    /// Blocks until the device has completed everything that was queued in the context.
    ///
    /// A signal may end the wait for the legacy default stream and those that are ordered with it; what
    /// only other streams have to do is waited for to its end.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// let event = Stream::non_blocking(&context)?.record()?;
    /// context.synchronize()?;
    /// assert!(event.is_complete()?);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When queued work failed, or the context is gone.
    pub fn synchronize(&self) -> CudaResult<()> {
        // An event after all streams would end graph captures of other threads.
        let (current, _) = self.enter()?.await_long_work(StreamHandle::DEFAULT)?;
        current.synchronize()
    }
}

impl Current<'_> {
    /// Blocks until a stream has completed all work queued so far, or a signal ends the wait.  Returns the
    /// guard, or another one of the same context.  Reports errors of the queued work, too.
    pub(crate) fn await_stream(self, stream: StreamHandle<'_>) -> CudaResult<Self> {
        let (current, is_complete) = self.await_long_work(stream)?;
        if !is_complete {
            current.synchronize_stream(stream)?;
        }
        Ok(current)
    }

    /// As [`await_stream`](Self::await_stream), if a signal may end the wait and it takes long.  Returns whether
    /// both is the case; otherwise the rest is left to the caller.
    pub(crate) fn await_long_work(self, stream: StreamHandle<'_>) -> CudaResult<(Self, bool)> {
        if let Some(in_place) = self.in_place_of(stream) {
            return self.await_stream(in_place.handle())?.await_own_work(stream);
        }
        self.await_own_work(stream)
    }

    fn await_own_work(self, stream: StreamHandle<'_>) -> CudaResult<(Self, bool)> {
        let mut patience = Patience::new();
        if !patience.ends_waits() || patience.poll(|| is_over(&self.is_stream_complete(stream))) {
            return Ok((self, false));
        }
        // Work that others queue from now on is not waited for.
        match Event::new_in(&self).and_then(|end| self.record(&end, stream).map(|()| end)) {
            Ok(end) => {
                let context = self.context();
                drop(self);
                end.await_in_turns(&mut patience)?;
                Ok((context.enter()?, true))
            }
            Err(_) => Ok((self, false)),
        }
    }
}

impl Stream {
    /// Blocks until all work queued so far is complete, or a signal ends the wait.  Returns the owners that
    /// were retained for it, and for completed work on a few other streams.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let stream = Stream::new(&Context::primary(0)?)?;
    /// stream.enqueue(Box::new([7; 64]), |_current, _stream| Ok(()))?;
    /// let owners = stream.synchronize()?;
    /// assert!(stream.is_complete()? && owners.len() == 1);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors, including those of the queued work.
    pub fn synchronize(&self) -> CudaResult<Completed> {
        let current = self.context().enter()?.await_stream(self.handle())?;
        InFlight::of(self.context()).end(&current, self.as_raw().addr())
    }
}

impl Event {
    /// Blocks until the work before it is complete, or a signal ends the wait.  Returns the owners that
    /// were retained for completed work, on whatever stream.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let stream = Stream::new(&Context::primary(0)?)?;
    /// let event = stream.record()?;
    /// event.synchronize()?;
    /// assert!(event.is_complete()?);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors, including those of the queued work.
    pub fn synchronize(&self) -> CudaResult<Completed> {
        let mut patience = Patience::new();
        match patience.ends_waits() {
            true => self.await_in_turns(&mut patience)?,
            false => self.wait()?,
        }
        Ok(completed())
    }

    fn await_in_turns(&self, patience: &mut Patience) -> CudaResult<()> {
        loop {
            let current = self.context().enter()?;
            if patience.take_turn(|| is_over(&current.is_reached(self))) {
                break;
            }
            drop(current);
            patience.check()?;
        }
        self.wait() // tells of a failure
    }
}

/// Whether there is nothing to wait for; after a failure, the call that waits tells more.
fn is_over(answer: &CudaResult<bool>) -> bool {
    !matches!(answer, Ok(false))
}
