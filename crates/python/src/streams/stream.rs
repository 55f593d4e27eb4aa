//! The methods of `Stream`.

use super::argument::stream_argument;
use super::classes::{PyEvent, PyStream};
use super::late_failure::or_raise_late;
use crate::contexts::argument::context_or_first;
use crate::contexts::context::PyContext;
use crate::errors::OrRaise;
use crate::signals::wait_for_signals;
use arrow_cuda_context::{Context, Event, Stream};
use pyo3::exceptions::{PyOverflowError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// `CU_STREAM_NON_BLOCKING`: not ordered with the legacy default stream.
const NON_BLOCKING: u32 = 1;

/// A stream with the driver's own flags, which are the CUDA runtime's as well.
#[pyfunction(name = "_stream")]
pub(super) fn with_flags(py: Python<'_>, context: &PyContext, flags: u32) -> PyResult<PyStream> {
    let stream = py.detach(|| Stream::with_flags(context.context(), flags)).or_raise(py)?;
    Ok(PyStream { stream })
}

/// A priority of any size: the driver takes the nearest one that there is.
fn priority_argument(number: &Bound<'_, PyAny>) -> PyResult<i32> {
    match number.extract::<i32>() {
        Err(error) if error.is_instance_of::<PyOverflowError>(number.py()) => {
            Ok(if number.lt(0)? { i32::MIN } else { i32::MAX })
        }
        priority => priority,
    }
}

#[pymethods]
impl PyStream {
    #[new]
    #[pyo3(signature = (context=None, *, non_blocking=false, priority=0))]
    fn construct(
        py: Python<'_>,
        context: Option<&Bound<'_, PyAny>>,
        non_blocking: bool,
        #[pyo3(from_py_with = priority_argument)] priority: i32,
    ) -> PyResult<Self> {
        let context = context_or_first(py, context)?;
        let flags = if non_blocking { NON_BLOCKING } else { 0 };
        let made = py.detach(|| Stream::with_priority(&context, flags, priority));
        Ok(Self { stream: made.or_raise(py)? })
    }

    /// Return the least and the greatest priority that streams can have.
    ///
    /// Parameters
    /// ----------
    /// context : Context, int or str, optional
    ///     The context, or a device's number or name for its primary one; by default that of
    ///     device 0.
    ///
    /// Returns
    /// -------
    /// least, greatest : tuple of int
    ///     The least is 0, and the greatest a negative number, or 0 if the device has no
    ///     priorities.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the device does not exist.
    ///
    /// Examples
    /// --------
    /// >>> least, greatest = Stream.priority_range()
    /// >>> greatest <= least
    /// True
    #[staticmethod]
    #[pyo3(signature = (context=None))]
    fn priority_range(py: Python<'_>, context: Option<&Bound<'_, PyAny>>) -> PyResult<(i32, i32)> {
        let context = context_or_first(py, context)?;
        py.detach(|| Stream::priorities(&context)).or_raise(py)
    }

    /// The stream's priority: lower numbers come first.
    ///
    /// Returns
    /// -------
    /// int
    ///     Within `priority_range`.
    ///
    /// Examples
    /// --------
    /// >>> Stream().priority
    /// 0
    #[getter]
    fn priority(&self, py: Python<'_>) -> PyResult<i32> {
        py.detach(|| self.stream.priority()).or_raise(py)
    }

    /// Use the stream in place of the default stream: the start of a ``with`` block.
    ///
    /// Returns
    /// -------
    /// Stream
    ///     This one.
    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf.get().stream.enter_thread();
        slf
    }

    /// The end of the ``with`` block.  Waits for nothing.
    ///
    /// Raises
    /// ------
    /// RuntimeError
    ///     If this thread has not begun such a block.
    #[pyo3(signature = (*_raised))]
    fn __exit__(&self, _raised: &Bound<'_, PyTuple>) -> PyResult<()> {
        match self.stream.leave_thread() {
            true => Ok(()),
            false => Err(PyRuntimeError::new_err(
                "this thread is in no `with` block of the stream: it ends where it begins",
            )),
        }
    }

    /// The context that the stream belongs to.
    ///
    /// Examples
    /// --------
    /// >>> Stream(ctx).context.handle == ctx.handle
    /// True
    #[getter]
    fn context(&self) -> PyContext {
        PyContext::new(self.stream.context().clone())
    }

    /// The ``CUstream`` handle, valid as long as the stream exists.
    ///
    /// Examples
    /// --------
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
    ///
    /// Examples
    /// --------
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
    /// other : Event, Stream, CuPy's or PyTorch's stream, or object with ``__cuda_stream__``
    ///     An event of any context, or a stream, which stands for all work queued
    ///     on it so far.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If it is neither.
    /// ValueError
    ///     If the stream belongs to a context that this package has not used in this process.
    ///
    /// Examples
    /// --------
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
