//! The methods of `Event`.

use super::argument::optional_stream;
use super::classes::PyEvent;
use super::late_failure::or_raise_late;
use crate::contexts::argument::context_or_first;
use crate::contexts::context::PyContext;
use crate::errors::OrRaise;
use crate::signals::wait_for_signals;
use arrow_cuda_context::{Context, Event, Stream};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// An event with the driver's own flags, which are the CUDA runtime's as well.
#[pyfunction(name = "_event")]
pub(super) fn with_flags(py: Python<'_>, context: &PyContext, flags: u32) -> PyResult<PyEvent> {
    PyEvent::make(py, context.context(), |context| Event::with_flags(context, flags))
}

#[pymethods]
impl PyEvent {
    #[new]
    #[pyo3(signature = (context=None, *, timing=false))]
    fn construct(
        py: Python<'_>,
        context: Option<&Bound<'_, PyAny>>,
        timing: bool,
    ) -> PyResult<Self> {
        let make = if timing { Event::with_timing } else { Event::new };
        Self::make(py, &context_or_first(py, context)?, make)
    }

    /// The context that the event belongs to.
    ///
    /// Examples
    /// --------
    /// >>> Event().context.device_number
    /// 0
    #[getter]
    fn context(&self) -> PyContext {
        PyContext::new(self.event.context().clone())
    }

    /// The ``CUevent`` handle, valid as long as the event exists.
    ///
    /// Examples
    /// --------
    /// >>> Event().handle > 0
    /// True
    #[getter]
    fn handle(&self) -> usize {
        self.event.as_raw().addr()
    }

    /// Record all work queued on a stream so far.
    ///
    /// Parameters
    /// ----------
    /// stream : Stream, CuPy's or PyTorch's, or object with ``__cuda_stream__``, optional
    ///     A stream of the event's context.  By default that of the thread's ``with`` block;
    ///     outside of blocks, and for 0, the legacy default stream.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `stream` is not a stream.
    /// ValueError
    ///     If the stream belongs to another context.
    ///
    /// Examples
    /// --------
    /// >>> event = Event()
    /// >>> event.record()
    /// >>> event.synchronize()
    #[pyo3(signature = (stream=None))]
    fn record(&self, py: Python<'_>, stream: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let context = self.event.context();
        self.record_on(py, &stream_or_default(stream, context)?)
    }

    /// Delay work that is queued on a stream from now on until the event is reached.
    ///
    /// The call itself does not block.  `Stream.wait` does the same from the other side, for events
    /// of any context.
    ///
    /// Parameters
    /// ----------
    /// stream : Stream, CuPy's or PyTorch's, or object with ``__cuda_stream__``, optional
    ///     As for `record`.
    ///
    /// Raises
    /// ------
    /// TypeError, ValueError
    ///     As for `record`.
    ///
    /// Examples
    /// --------
    /// >>> producer, consumer = Stream(), Stream()
    /// >>> producer.record().wait(consumer)
    #[pyo3(signature = (stream=None))]
    fn wait(&self, py: Python<'_>, stream: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let context = self.event.context();
        let stream = stream_or_default(stream, context)?;
        py.detach(|| stream.wait_for(&self.event)).or_raise(py)
    }

    /// Wait until the work before the event is complete.
    ///
    /// Raises
    /// ------
    /// OSError
    ///     If queued work has failed, possibly long ago and possibly in another
    ///     library.
    ///
    /// Examples
    /// --------
    /// >>> Stream().record().synchronize()
    fn synchronize(&self, py: Python<'_>) -> PyResult<()> {
        // Drops the owners of completed work here, with the GIL: they may be Python objects.
        drop(or_raise_late(py, wait_for_signals(py, || self.event.synchronize())?)?);
        Ok(())
    }

    /// Whether the work before the event is complete.
    ///
    /// Returns
    /// -------
    /// is_done : bool
    ///     True also if the event was never recorded.
    ///
    /// Raises
    /// ------
    /// OSError
    ///     If queued work has failed.
    ///
    /// Examples
    /// --------
    /// >>> Event().query()
    /// True
    fn query(&self, py: Python<'_>) -> PyResult<bool> {
        or_raise_late(py, py.detach(|| self.event.is_complete()))
    }

    /// Return the time from this event to another one.
    ///
    /// Parameters
    /// ----------
    /// end : Event
    ///     The other event.  Both must have timing and be complete.
    ///
    /// Returns
    /// -------
    /// elapsed : float
    ///     In milliseconds, with a resolution of about half a microsecond;
    ///     negative if `end` was reached first.  ``end - start`` is the same.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If one of them does not have timing or was never recorded, or if they
    ///     belong to different contexts.
    /// OSError
    ///     If one of them is not complete yet: ``end.synchronize()`` waits for it.
    ///
    /// Examples
    /// --------
    /// >>> stream, buf = Stream(ctx), ctx.new_buffer(1000)
    /// >>> start, end = Event(ctx, timing=True), Event(ctx, timing=True)
    /// >>> start.record(stream)
    /// >>> buf.fill(0, stream=stream)
    /// >>> end.record(stream)
    /// >>> end.synchronize()
    /// >>> start.elapsed_time(end) >= 0
    /// True
    fn elapsed_time(&self, py: Python<'_>, end: &Bound<'_, Self>) -> PyResult<f32> {
        let end = end.get();
        self.check_timing("start")?;
        end.check_timing("end")?;
        if !self.event.context().is_same(end.event.context()) {
            return Err(PyValueError::new_err("the events belong to different contexts"));
        }
        py.detach(|| self.event.elapsed(&end.event)).or_raise(py)
    }

    fn __sub__<'py>(slf: &Bound<'py, Self>, start: &Bound<'py, Self>) -> PyResult<f32> {
        start.get().elapsed_time(slf.py(), slf)
    }

    fn __repr__(&self) -> String {
        format!(
            "<pyarrow_cuda_compat.Event handle={:#x} device={} timing={}>",
            self.handle(),
            self.event.context().device().number(),
            if self.event.has_timing() == Some(true) { "True" } else { "False" }
        )
    }
}

/// The stream that an argument names, or the one that stands for the default stream.
fn stream_or_default(stream: Option<&Bound<'_, PyAny>>, context: &Context) -> PyResult<Stream> {
    let chosen = optional_stream("stream", stream, &[context])?;
    Ok(chosen.stream().cloned().unwrap_or_else(|| Stream::default_of(context)))
}
