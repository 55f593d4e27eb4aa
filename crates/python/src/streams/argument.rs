//! Arguments that name a stream: a `Stream`, a stream of CuPy or PyTorch, or an object of another library with
//! `__cuda_stream__`.

use super::classes::PyStream;
use crate::errors::{OrRaise, class_name};
use crate::interpreter::Owner;
use crate::signals::{copy_behind, wait_for_signals};
use arrow_cuda_buffer::CopyOrder;
use arrow_cuda_context::{Context, Pending, Retained, Stream};
use arrow_cuda_driver::CudaResult;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyType;

/// The order that an optional argument names: on its stream; without one, on the stream that this thread
/// uses in place of the default stream; now for the default stream, which Numba calls 0.
pub(crate) fn optional_stream(
    argument: &str,
    object: Option<&Bound<'_, PyAny>>,
    contexts: &[&Context],
) -> PyResult<ChosenOrder> {
    match object.filter(|object| !object.is_none()) {
        None => Ok(ChosenOrder::current(contexts)),
        Some(object) if object.extract::<i64>().is_ok_and(|number| number == 0) => {
            Ok(ChosenOrder::NOW)
        }
        Some(object) => Ok(ChosenOrder::named(stream_argument(argument, object, contexts)?)),
    }
}

/// The order in which a call makes its copies.
pub(crate) struct ChosenOrder {
    /// Without one, the copies are made now.
    stream: Option<Stream>,
    /// Whether the call waits for what is queued: nobody has named the stream for this call.
    is_awaited: bool,
}

impl ChosenOrder {
    /// Now, whichever stream the thread uses.
    pub(crate) const NOW: Self = Self { stream: None, is_awaited: false };

    /// On the stream that is named for the call; without that, on the thread's, if it has one.
    pub(crate) fn of(
        py: Python<'_>,
        named: Option<Named>,
        contexts: &[&Context],
    ) -> PyResult<Self> {
        match named {
            None => Ok(Self::current(contexts)),
            Some(named) => Ok(Self::named(named.within(py, contexts)?)),
        }
    }

    fn named(stream: Stream) -> Self {
        Self { stream: Some(stream), is_awaited: false }
    }

    /// On the thread's stream in the context.  Of several contexts, each may have one or a default stream that
    /// counts: copies that are made now wait for all of these.
    fn current(contexts: &[&Context]) -> Self {
        let Some((first, others)) = contexts.split_first() else { return Self::NOW };
        let is_one = others.iter().all(|other| other.is_same(first));
        match Stream::current(first).filter(|_| is_one) {
            None => Self::NOW,
            stream => Self { stream, is_awaited: true },
        }
    }

    /// The order of a copy between two contexts, one of which is known only now.
    pub(crate) fn between(&self, one: &Context, other: &Context) -> &Self {
        if self.is_awaited && !one.is_same(other) { &Self::NOW } else { self }
    }

    pub(crate) fn stream(&self) -> Option<&Stream> {
        self.stream.as_ref()
    }

    /// Makes a copy in this order, of memory of the contexts.  Ctrl-C can end it, so `attempt` looks up all memory
    /// anew each time.
    ///
    /// Drops the owners of completed work here, with the GIL: they may be Python objects.
    pub(crate) fn copy<T>(
        &self,
        py: Python<'_>,
        contexts: &[&Context],
        mut attempt: impl FnMut(CopyOrder<'_>) -> PyResult<T>,
    ) -> PyResult<T> {
        match &self.stream {
            None => {
                let wait = || contexts.iter().try_for_each(|context| await_turn(context));
                copy_behind(py, wait, || attempt(CopyOrder::Now))
            }
            Some(stream) => {
                let wait = || stream.synchronize().map(drop);
                let queued = copy_behind(py, wait, || attempt(CopyOrder::On(stream)))?;
                self.finish(py)?;
                Ok(queued)
            }
        }
    }

    /// To be called when the work is queued.
    pub(crate) fn finish(&self, py: Python<'_>) -> PyResult<()> {
        if let Some(stream) = self.stream.as_ref().filter(|_| self.is_awaited) {
            drop(wait_for_signals(py, || stream.synchronize())?.or_raise(py)?);
        }
        Ok(())
    }
}

/// Waits for the stream that the thread uses in place of a context's default stream, and for that.
fn await_turn(context: &Context) -> CudaResult<()> {
    Stream::current(context).map_or(Ok(()), |stream| stream.synchronize().map(drop))?;
    context.wait_for(&Pending::DefaultStream)
}

/// Gives the owner of the host memory that a copy in this order may be queued with.  Unless it is asked, the owner is
/// dropped with it, where the GIL is held.
pub(crate) fn owner_for(
    order: CopyOrder<'_>,
    object: &Bound<'_, PyAny>,
) -> impl FnMut() -> Retained + Send {
    let mut owner = match order {
        CopyOrder::Now => None,
        CopyOrder::On(_) => Some(Owner::new(object.clone().unbind())),
    };
    move || Box::new(owner.take())
}

/// The stream that an argument names: one of ours, or one of another library that belongs to one of
/// `contexts`.  The result retains the object.
///
/// Runs Python code, which may change the size of host buffers: check them afterwards, or [`ask`]
/// before.
pub(crate) fn stream_argument(
    argument: &str,
    object: &Bound<'_, PyAny>,
    contexts: &[&Context],
) -> PyResult<Stream> {
    ask(argument, object)?.within(object.py(), contexts)
}

/// The stream that an argument names, before it is checked.
pub(crate) enum Named {
    Ours(Stream),
    Theirs(Foreign),
}

/// A stream of another library.
pub(crate) struct Foreign {
    handle: usize,
    /// The number of its device, if the library says so: the handles of default streams do not.
    device: Option<u32>,
    owner: Py<PyAny>,
}

/// The classes of streams of libraries whose older versions have no `__cuda_stream__`: their module, their names, and
/// the attributes with the handle and with the number of the device, which is negative for the current one.
const CLASSES: [(&str, &[&str], &str, &str); 2] = [
    ("cupy.cuda.stream", &["Stream", "ExternalStream"], "ptr", "device_id"),
    ("torch.cuda.streams", &["Stream"], "cuda_stream", "device_index"),
];

/// Asks an argument which stream it names.
///
/// The driver reads through a stream's handle and crashes on a wrong one.  So this function accepts
/// a handle only from an object that owns a stream, never as a number.
pub(crate) fn ask(argument: &str, object: &Bound<'_, PyAny>) -> PyResult<Named> {
    if let Ok(ours) = object.cast::<PyStream>() {
        return Ok(Named::Ours(ours.get().stream.clone()));
    }
    let names = attributes_of(object)?;
    let handle = match object.getattr_opt("__cuda_stream__")? {
        Some(protocol) => answered(argument, &protocol.call0()?)?,
        None => {
            let (handle, _) = names.ok_or_else(|| refused(argument, object))?;
            object.getattr(handle)?.extract()?
        }
    };
    let device = names.map(|(_, device)| object.getattr_opt(device)).transpose()?.flatten();
    let device = device.and_then(|device| device.extract().ok());
    Ok(Named::Theirs(Foreign { handle, device, owner: object.clone().unbind() }))
}

/// The attributes with the handle and the device of a stream of a class in the table.
fn attributes_of(object: &Bound<'_, PyAny>) -> PyResult<Option<(&'static str, &'static str)>> {
    for class in object.get_type().mro() {
        let class = class.cast_into::<PyType>()?;
        let (module, name) = (class.module()?, class.name()?);
        for (of, classes, handle, device) in CLASSES {
            if module == of && classes.iter().any(|class| name == *class) {
                return Ok(Some((handle, device)));
            }
        }
    }
    Ok(None)
}

/// The handle in the answer of `__cuda_stream__`.
fn answered(argument: &str, answer: &Bound<'_, PyAny>) -> PyResult<usize> {
    let Ok((version, handle)) = answer.extract::<(i64, usize)>() else {
        return Err(PyTypeError::new_err(format!(
            "__cuda_stream__() of '{argument}' must return a version and a handle, not {}",
            answer.repr()?
        )));
    };
    if version != 0 {
        return Err(PyValueError::new_err(format!(
            "'{argument}' has version {version} of __cuda_stream__; only version 0 is supported"
        )));
    }
    Ok(handle)
}

impl Named {
    /// The stream, if it is one of ours or belongs to one of `contexts`.  No Python code runs.
    pub(crate) fn within(self, py: Python<'_>, contexts: &[&Context]) -> PyResult<Stream> {
        let Foreign { handle, device, owner } = match self {
            Self::Ours(stream) => return Ok(stream),
            Self::Theirs(foreign) => foreign,
        };
        let is_there =
            |context: &&&Context| device.is_none_or(|it| context.device().number() == it);
        let contexts: Vec<_> = contexts.iter().filter(is_there).copied().collect();
        // SAFETY: the object promises that the stream exists, and is retained.
        let found =
            unsafe { Stream::borrowed(&contexts, handle as *mut _, Box::new(Owner::new(owner))) };
        found.or_raise(py)?.ok_or_else(|| {
            PyValueError::new_err(format!("the stream {handle:#x} belongs to another context"))
        })
    }
}

fn refused(argument: &str, object: &Bound<'_, PyAny>) -> PyErr {
    let class = class_name(object);
    let mut text = format!(
        "'{argument}' must be a Stream, a stream of CuPy or PyTorch, or an object of another library with \
         __cuda_stream__, not {class}"
    );
    if object.extract::<i128>().is_ok() {
        text += ": the driver crashes on the handle of a destroyed stream, so pass the object that \
                 owns the stream instead of its handle";
    }
    PyTypeError::new_err(text)
}
