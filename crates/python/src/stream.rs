//! `Stream`, and streams of other libraries as arguments.

use crate::context::{PyContext, context_or_first};
use crate::errors::OrRaise;
use crate::event::PyEvent;
use crate::lifecycle::Owner;
use arrow_cuda_context::{Context, Stream};
use arrow_cuda_driver::{CudaError, CudaResult};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

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
    stream: Stream,
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

    /// The ``CUstream`` handle, valid as long as the stream lives.
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
        self.stream.raw().addr()
    }

    /// The stream, as the protocol of this name gives it to other libraries.
    ///
    /// Returns
    /// -------
    /// tuple of int
    ///     The protocol's version, 0, and the handle.
    fn __cuda_stream__(&self) -> (i32, usize) {
        (0, self.handle())
    }

    /// Wait until all that is queued so far is done.
    ///
    /// Raises
    /// ------
    /// OSError
    ///     If work has failed: perhaps long ago, and perhaps that of another
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
        // What work has kept goes here, with the GIL: it may be Python's.
        drop(noticed(py, py.detach(|| self.stream.synchronize()))?);
        Ok(())
    }

    /// Whether all that is queued so far is done.
    ///
    /// Returns
    /// -------
    /// is_done : bool
    ///
    /// Raises
    /// ------
    /// OSError
    ///     If work has failed.
    ///
    /// Examples
    /// --------
    /// >>> from pyarrow_cuda_compat import Stream
    /// >>> Stream().query()
    /// True
    fn query(&self, py: Python<'_>) -> PyResult<bool> {
        noticed(py, py.detach(|| self.stream.is_done()))
    }

    /// Record an event at the end of what is queued so far.
    ///
    /// Parameters
    /// ----------
    /// event : Event, optional
    ///     The event to record, of the stream's context; what it had recorded is
    ///     forgotten.  By default a new one, without timing.
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
            None => Bound::new(py, PyEvent::make(py, self.stream.context(), false)?)?,
        };
        event.get().record_on(py, &self.stream)?;
        Ok(event)
    }

    /// Hold work that is queued from now on back until other work is done.
    ///
    /// The call itself does not wait.
    ///
    /// Parameters
    /// ----------
    /// other : Event, Stream or object with ``__cuda_stream__``
    ///     An event, of any context; or a stream, all of whose work that is queued
    ///     so far is meant.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If it is neither.
    /// ValueError
    ///     If the stream belongs to a context that was never used here.
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
            let event = event.get().event();
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

/// The stream that an argument names: one of ours, or one of another library that belongs to one of
/// `contexts`.  The result keeps the object.
///
/// The driver reads through a stream's handle and crashes on a wrong one.  So a handle is taken
/// only from an object that has a stream, never as a number.
pub(crate) fn stream_argument(
    argument: &str,
    object: &Bound<'_, PyAny>,
    contexts: &[&Context],
) -> PyResult<Stream> {
    let py = object.py();
    if let Ok(ours) = object.cast::<PyStream>() {
        return Ok(ours.get().stream.clone());
    }
    let Some(protocol) = object.getattr_opt("__cuda_stream__")? else {
        return Err(refused(argument, object));
    };
    let answer = protocol.call0()?;
    let Ok((version, handle)) = answer.extract::<(i64, usize)>() else {
        return Err(PyTypeError::new_err(format!(
            "__cuda_stream__() of '{argument}' has to give a version and a handle, not {}",
            answer.repr()?
        )));
    };
    if version != 0 {
        return Err(PyValueError::new_err(format!(
            "'{argument}' speaks version {version} of __cuda_stream__; known is version 0"
        )));
    }
    let owner = Box::new(Owner::new(object.clone().unbind()));
    // SAFETY: the object says that it has such a stream, and is kept.
    let found = unsafe { Stream::borrowed(contexts, handle as *mut _, owner) };
    found.or_raise(py)?.ok_or_else(|| {
        PyValueError::new_err(format!("the stream {handle:#x} belongs to another context"))
    })
}

fn refused(argument: &str, object: &Bound<'_, PyAny>) -> PyErr {
    let class = object.get_type();
    let class = class.name().unwrap_or_else(|_| PyString::new(object.py(), "?"));
    let mut text = format!(
        "'{argument}' has to be a Stream, or an object of another library that has a stream and \
         __cuda_stream__, not {class}"
    );
    if object.extract::<i128>().is_ok() {
        text += ": of a number nobody can tell whether it is the handle of a live stream, and a \
                 driver crashes on others; pass the object that owns the stream";
    }
    PyTypeError::new_err(text)
}

/// What says that there is nothing to ask: after a fork, and in a context that is gone.
const OWN_FAILURES: [i32; 2] = [3, 201];

/// Raises a failure of waiting or asking, which need not be the call's own.
pub(crate) fn noticed<T>(py: Python<'_>, outcome: CudaResult<T>) -> PyResult<T> {
    let code = outcome.as_ref().err().and_then(CudaError::code);
    outcome.or_raise(py).inspect_err(|error| {
        if code.is_none_or(|code| OWN_FAILURES.contains(&code)) {
            return;
        }
        let note = "CUDA reports failures of queued work late: work that was queued earlier in \
                    this context, on any stream, may have failed.";
        // Without the note the error is the same.
        let _ = error.value(py).call_method1("add_note", (note,));
    })
}
