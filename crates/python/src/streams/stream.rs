//! The methods of `Stream`.

use super::argument::stream_argument;
use super::late_failure::or_raise_late;
use super::objects::{PyEvent, PyStream};
use crate::errors::OrRaise;
use crate::interpreter::wait_for_signals;
use crate::memory::context::{PyContext, context_argument, context_or_first};
use arrow_cuda_context::{Context, Event, Stream};
use pyo3::prelude::*;

/// A stream with the driver's own flags, which are the CUDA runtime's as well.
#[pyfunction]
#[pyo3(name = "_stream")]
pub(super) fn with_flags(
    py: Python<'_>,
    context: &Bound<'_, PyAny>,
    flags: u32,
) -> PyResult<PyStream> {
    let context = context_argument(context)?.context();
    Ok(PyStream { stream: py.detach(|| Stream::with_flags(context, flags)).or_raise(py)? })
}

#[pymethods]
impl PyStream {
    #[new]
    #[pyo3(signature = (context=None, *, non_blocking=false))]
    fn construct(
        py: Python<'_>,
        context: Option<&Bound<'_, PyAny>>,
        non_blocking: bool,
    ) -> PyResult<Self> {
        let context = context_or_first(py, context)?;
        let make = if non_blocking { Stream::non_blocking } else { Stream::new };
        Ok(Self { stream: py.detach(|| make(&context)).or_raise(py)? })
    }

    /// The context that the stream belongs to.
    ///
    /// Returns
    /// -------
    /// Context
    ///
    /// Examples
    /// --------
    /// >>> from pyarrow import cuda
    /// >>> from pyarrow_cuda_compat import Stream
    /// >>> ctx = cuda.Context(0)
    /// >>> Stream(ctx).context.handle == ctx.handle
    /// True
    #[getter]
    fn context(&self) -> PyContext {
        PyContext::new(self.stream.context().clone())
    }

    /// The ``CUstream`` handle, valid as long as the stream exists.
    ///
    /// Returns
    /// -------
    /// int
    ///
    /// Examples
    /// --------
    /// >>> from pyarrow_cuda_compat import Stream
    /// >>> stream = Stream()
    /// >>> stream.__cuda_stream__() == (0, stream.handle)
    /// True
    #[getter]
    fn handle(&self) -> usize {
        self.stream.as_raw().addr()
    }

    /// The protocol that passes the stream to other libraries.
    ///
    /// Returns
    /// -------
    /// tuple of int
    ///     The protocol's version, 0, and the handle.
    fn __cuda_stream__(&self) -> (i32, usize) {
        (0, self.handle())
    }

    /// Wait until all work queued so far is complete.
    ///
    /// Raises
    /// ------
    /// OSError
    ///     If queued work has failed, possibly long ago and possibly in another
    ///     library.
    ///
    /// Examples
    /// --------
    /// >>> from pyarrow_cuda_compat import Stream
    /// >>> stream = Stream()
    /// >>> stream.synchronize()
    /// >>> stream.query()
    /// True
    fn synchronize(&self, py: Python<'_>) -> PyResult<()> {
        // Drops the owners of completed work here, with the GIL: they may be Python objects.
        drop(or_raise_late(py, wait_for_signals(py, || self.stream.synchronize())?)?);
        Ok(())
    }

    /// Whether all work queued so far is complete.
    ///
    /// Returns
    /// -------
    /// is_done : bool
    ///
    /// Raises
    /// ------
    /// OSError
    ///     If queued work has failed.
    ///
    /// Examples
    /// --------
    /// >>> from pyarrow_cuda_compat import Stream
    /// >>> Stream().query()
    /// True
    fn query(&self, py: Python<'_>) -> PyResult<bool> {
        or_raise_late(py, py.detach(|| self.stream.is_complete()))
    }

    /// Record an event after all work queued so far.
    ///
    /// Parameters
    /// ----------
    /// event : Event, optional
    ///     The event to record, in the stream's context; it replaces what the event
    ///     had recorded.  By default a new event without timing.
    ///
    /// Returns
    /// -------
    /// event : Event
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the event belongs to another context.
    /// OSError
    ///     If the driver fails.
    ///
    /// Examples
    /// --------
    /// >>> from pyarrow_cuda_compat import Stream
    /// >>> stream = Stream()
    /// >>> event = stream.record()
    /// >>> event.synchronize()
    /// >>> event.query()
    /// True
    #[pyo3(signature = (event=None))]
    fn record<'py>(
        &self,
        py: Python<'py>,
        event: Option<Bound<'py, PyEvent>>,
    ) -> PyResult<Bound<'py, PyEvent>> {
        let event = match event {
            Some(event) => event,
            None => Bound::new(py, PyEvent::make(py, self.stream.context(), Event::new)?)?,
        };
        event.get().record_on(py, &self.stream)?;
        Ok(event)
    }

    /// Delay work that is queued from now on until other work is complete.
    ///
    /// The call itself does not block.
    ///
    /// Parameters
    /// ----------
    /// other : Event, Stream or object with ``__cuda_stream__``
    ///     An event of any context, or a stream, which stands for all work queued
    ///     on it so far.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If it is neither.
    /// ValueError
    ///     If the stream belongs to a context that this package has not used in this process.
    /// OSError
    ///     If the driver fails.
    ///
    /// Examples
    /// --------
    /// >>> from pyarrow import cuda
    /// >>> from pyarrow_cuda_compat import Stream
    /// >>> ctx = cuda.Context(0)
    /// >>> producer, consumer = Stream(ctx), Stream(ctx)
    /// >>> buf, copy = ctx.new_buffer(3), ctx.new_buffer(3)
    /// >>> buf.fill(7, stream=producer)
    /// >>> consumer.wait(producer)
    /// >>> copy.copy_from_device(buf, stream=consumer)
    /// 3
    /// >>> consumer.synchronize()
    /// >>> copy.to_pybytes()
    /// b'\x07\x07\x07'
    fn wait(&self, other: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = other.py();
        if let Ok(event) = other.cast::<PyEvent>() {
            let event = &event.get().event;
            return py.detach(|| self.stream.wait_for(event)).or_raise(py);
        }
        let known = Context::primaries();
        let contexts: Vec<_> = std::iter::once(self.stream.context()).chain(&known).collect();
        let theirs = stream_argument("other", other, &contexts)?;
        py.detach(|| self.stream.wait_for(&theirs.record()?)).or_raise(py)
    }

    fn __repr__(&self) -> String {
        format!(
            "<pyarrow_cuda_compat.Stream handle={:#x} device={}>",
            self.handle(),
            self.stream.context().device().number()
        )
    }
}
