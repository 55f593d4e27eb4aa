//! The `Stream` and `Event` classes.
//!
//! Streams record events, and events are recorded on streams: the methods of each class need the
//! other class, so both classes are here, below the methods.

use crate::errors::OrRaise;
use arrow_cuda_context::{Context, Event, Stream};
use arrow_cuda_driver::CudaResult;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// A queue of work that a device runs in order, concurrently with other streams.
///
/// Pass it to copies as ``stream``.  Libraries that support the protocol
/// ``__cuda_stream__`` (CuPy, cuda.core, Numba) accept it too, and copies
/// accept the streams of those libraries.
///
/// Parameters
/// ----------
/// context : Context, int or str, optional
///     The context of the work, or a device's number or name for its primary one; by default
///     that of device 0.
/// non_blocking : bool, default False
///     Whether the stream is independent of the legacy default stream.  By
///     default, each of the two streams starts work only after the work queued
///     earlier on the other is complete, so copies without a stream see the work
///     queued here.  Copies without a stream do not wait for an independent
///     stream: use `synchronize`, or a ``with`` block.
/// priority : int, default 0
///     Work of streams with lower numbers is begun first, where the device has a choice.
///     `priority_range` tells which there are; the driver takes the nearest of them for
///     another number, and `priority` tells which it took.
///
/// Notes
/// -----
/// Queued work retains the memory that it uses, on the device and on the host,
/// until it is complete, even if the program drops the buffers or the stream.
/// The next use of a stream or an event, or `Context.synchronize`, releases
/// that memory.
///
/// Calls that do not accept a stream are ordered with the legacy default stream:
/// `to_pybytes`, `equals`, files, and exports to other libraries.  Synchronize an
/// independent stream before them, or make them in a ``with`` block.
///
/// In ``with stream:``, the stream takes the place of its context's default stream for all
/// calls of this thread.  They come after the work that is queued on it so far, and copies
/// and fills run on it.  As without a block, they are complete when they return;
/// only ``stream=`` lets a call return at once.  Blocks nest: the inner one's stream
/// counts, of each context.  The end of a block waits for nothing.  Other threads, and
/// other libraries, are not affected.
///
/// Several threads may use a stream.  In a forked child process every use raises
/// an OSError, because CUDA does not survive a fork.
///
/// Examples
/// --------
/// >>> stream = Stream(ctx)
/// >>> buf, pinned = ctx.new_buffer(4), cuda.new_host_buffer(4)
/// >>> buf.fill(ord("x"), stream=stream)
/// >>> out = buf.copy_to_host(buf=pinned, stream=stream)  # returns at once
/// >>> stream.synchronize()
/// >>> out.to_pybytes()
/// b'xxxx'
#[pyclass(frozen, weakref, name = "Stream", module = "pyarrow_cuda_compat")]
pub(crate) struct PyStream {
    pub(super) stream: Stream,
}

/// A point in the work of a stream, which other work can wait for; two events measure time.
///
/// An event that was never recorded counts as complete.
///
/// Parameters
/// ----------
/// context : Context, int or str, optional
///     The context of the streams that can record it, or a device's number or name for
///     its primary one; by default that of device 0.
/// timing : bool, default False
///     Whether the event records the time when it is reached, for
///     `elapsed_time`.  An event without timing is faster.
///
/// Examples
/// --------
/// >>> stream, event = Stream(), Event()
/// >>> event.record(stream)
/// >>> event.synchronize()
/// >>> event.query()
/// True
#[pyclass(frozen, weakref, name = "Event", module = "pyarrow_cuda_compat")]
pub(crate) struct PyEvent {
    pub(super) event: Event,
    is_recorded: AtomicBool,
}

impl PyEvent {
    pub(super) fn make(
        py: Python<'_>,
        context: &Context,
        make: impl Fn(&Context) -> CudaResult<Event> + Sync,
    ) -> PyResult<Self> {
        let event = py.detach(|| make(context)).or_raise(py)?;
        Ok(Self { event, is_recorded: AtomicBool::new(false) })
    }

    pub(super) fn record_on(&self, py: Python<'_>, stream: &Stream) -> PyResult<()> {
        if !self.event.context().is_same(stream.context()) {
            return Err(PyValueError::new_err(
                "the stream and the event belong to different contexts",
            ));
        }
        py.detach(|| self.event.record(stream)).or_raise(py)?;
        self.is_recorded.store(true, Ordering::Release);
        Ok(())
    }

    pub(super) fn check_timing(&self, which: &str) -> PyResult<()> {
        if self.event.has_timing() != Some(true) {
            return Err(PyValueError::new_err(format!(
                "the {which} event does not record time: it was made without timing=True"
            )));
        }
        if !self.is_recorded.load(Ordering::Acquire) {
            return Err(PyValueError::new_err(format!("the {which} event was never recorded")));
        }
        Ok(())
    }
}
