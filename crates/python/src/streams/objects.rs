//! The `Stream` and `Event` classes.
//!
//! Streams record events, and events are recorded on streams: the methods of each class need the
//! other class, so both classes are here, below the methods.

use crate::errors::OrRaise;
use arrow_cuda_context::{Context, Event, Stream};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// A queue of work that a device does in order, beside that of other streams.
///
/// Copies take it as their ``stream``.  Any library that knows the protocol
/// ``__cuda_stream__`` takes it as well (CuPy, cuda.core, Numba), and copies
/// take the streams of those libraries.
///
/// Parameters
/// ----------
/// context : Context, optional
///     Where the work is done; the first device's primary context by default.
/// non_blocking : bool, default False
///     Whether the stream is independent of the legacy default stream.  By
///     default each of the two begins work only when what was queued in the
///     other before is done, so copies without a stream see what was queued
///     here.  Copies without a stream do not wait for an independent stream:
///     use `synchronize`.
///
/// Raises
/// ------
/// OSError
///     If the stream cannot be made.
///
/// Notes
/// -----
/// What is queued keeps the memory that it needs, on the device and on the
/// host, until it is done, also when the program drops the buffers or the
/// stream.  That memory is released when a stream or an event is used next, by
/// `Context.synchronize` as well.
///
/// Whatever takes no stream is ordered with the legacy default stream: `to_pybytes`,
/// `equals`, files, what other libraries are given.  Before it, synchronize an
/// independent stream.
///
/// Several threads may use a stream.  In a forked child, as everywhere in
/// CUDA, every use is an OSError.
///
/// Examples
/// --------
/// >>> from pyarrow import cuda
/// >>> from pyarrow_cuda_compat import Stream
/// >>> ctx = cuda.Context(0)
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

/// A point in the work of a stream, to wait for or to measure time between.
///
/// Until it is recorded it counts as done.
///
/// Parameters
/// ----------
/// context : Context, optional
///     The context of the streams on which it can be recorded; the first
///     device's primary context by default.
/// timing : bool, default False
///     Whether it takes the time when it is reached, see `elapsed_time`.
///     Without timing it is faster.
///
/// Raises
/// ------
/// OSError
///     If the event cannot be made.
///
/// Examples
/// --------
/// >>> from pyarrow_cuda_compat import Event, Stream
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
    pub(super) fn make(py: Python<'_>, context: &Context, timing: bool) -> PyResult<Self> {
        let make = if timing { Event::with_timing } else { Event::new };
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
        if !self.event.has_timing() {
            return Err(PyValueError::new_err(format!(
                "the {which} event records no time: it was created without timing=True"
            )));
        }
        if !self.is_recorded.load(Ordering::Acquire) {
            return Err(PyValueError::new_err(format!("the {which} event was never recorded")));
        }
        Ok(())
    }
}
