//! Waits that a signal may end.
//!
//! Where it may, the driver is asked for the end of the work, and between two turns signals are handled.  Their
//! handlers are Python code, which may leave contexts current or reset the device.  So they run outside the
//! guard, and each turn enters the context again.

use crate::{Current, Event, StreamHandle};
use arrow_cuda_driver::{CudaResult, Patience};

impl Current<'_> {
    /// Blocks until a stream has completed all work queued so far, or a signal ends the wait.  Returns the
    /// guard, or another one of the same context.
    ///
    /// # Errors
    ///
    /// Driver errors, including those of the queued work; [`Interrupted`](arrow_cuda_driver::CudaError::Interrupted).
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

impl Event {
    /// Blocks until it is reached, or a signal ends the wait.
    pub(super) fn await_reached(&self) -> CudaResult<()> {
        let mut patience = Patience::new();
        match patience.ends_waits() {
            true => self.await_in_turns(&mut patience),
            false => self.wait(),
        }
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
