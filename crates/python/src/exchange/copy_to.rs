//! Copies of arrays, batches, tables and buffers to and from devices.  The methods themselves are
//! pyarrow's, or added to its classes, in Python: `pyarrow_cuda_compat/_patches/copy_to.py`.

use crate::contexts::argument::{Place, place_of};
use crate::contexts::context::memory_manager;
use crate::errors::{OrRaise, expected, with_less_memory};
use crate::interpreter::{call_out, with_interpreter};
use crate::pyarrow::from_pyarrow::{is_of, object_ref, span};
use crate::pyarrow::to_pyarrow::{made, replaced, wrap_memory_of};
use crate::pyarrow::{Pyarrow, pyarrow};
use crate::streams::argument::{ChosenOrder, Named, ask};
use crate::tracing::{Area, Facts, traced};
use arrow_cuda_bridge::{Bridge, Contexts, DataKind, Destination, Fault, Object, ObjectRef};
use arrow_cuda_buffer::{Seen, watched};
use arrow_cuda_context::{Context, Stream};
use arrow_cuda_driver::uninterrupted;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::cell::RefCell;
use std::rc::Rc;

/// `ARROW_DEVICE_CUDA`.
const CUDA: i32 = 2;

/// A copy of an object with data in the memory of a `pyarrow.Device` or `pyarrow.MemoryManager`, on a
/// stream if one is given.  `cls` is the pyarrow class that the method belongs to.  `None` if pyarrow
/// itself makes the copy or refuses the destination, because no device memory is involved.  `progress` is called with
/// the bytes that were copied, and with all bytes.
#[pyfunction(name = "_copy_to", signature = (object, cls, destination, stream, progress=None))]
pub(crate) fn copy_to<'py>(
    object: &Bound<'py, PyAny>,
    cls: &Bound<'py, PyType>,
    destination: &Bound<'py, PyAny>,
    stream: Option<&Bound<'py, PyAny>>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = object.py();
    let copy = || {
        let pyarrow = pyarrow(py)?;
        let kind = kind_of(pyarrow, cls)?;
        let named = stream.map(|stream| ask("stream", stream)).transpose()?;
        let destination = &destination_object(pyarrow, destination)?;
        let place = match kind {
            DataKind::ChunkedArray | DataKind::Table => {
                Some(require_destination(pyarrow, destination)?)
            }
            DataKind::Array | DataKind::Batch => as_destination(pyarrow, destination),
        };
        let chosen = match place {
            Some(place) => {
                in_contexts(py, named, &place, || pyarrow.bridge.contexts_of(object_ref(object)))?
            }
            None => ChosenOrder::NOW,
        };
        let attempt =
            || pyarrow.bridge.copy_to(object_ref(object), kind, place.as_ref(), chosen.stream());
        let (copied, seen) = reported(py, progress, attempt)
            .map_err(|error| with_less_memory(py, error, "copy fewer columns or rows"))?;
        let copy = copied.map(|copy| made(py, |_| Ok(copy))).transpose()?;
        chosen.finish(py)?;
        if let Some(progress) = progress.filter(|_| seen.done < seen.total || seen.total == 0) {
            call_out(progress, (seen.total, seen.total))?;
        }
        Ok(copy)
    };
    traced(py, Area::Transfer, "copy_to", copy, |copied| facts_of(object, copied.as_ref()))
}

/// The bytes of a copy, and the device that it was made to, or from.
fn facts_of(object: &Bound<'_, PyAny>, copied: Option<&Bound<'_, PyAny>>) -> Facts {
    let (Some(copied), Ok(pyarrow)) = (copied, pyarrow(object.py())) else {
        return Facts::default();
    };
    let nbytes = copied.call_method0("get_total_buffer_size").and_then(|nbytes| nbytes.extract());
    let device = [copied, object].map(|data| pyarrow.bridge.contexts_of(object_ref(data)).device());
    Facts { nbytes: nbytes.ok(), device: device.into_iter().flatten().next() }
}

/// Does work that copies, and calls `progress` meanwhile.  What that raises ends the work.
fn reported<T>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce() -> Result<T, Fault>,
) -> PyResult<(T, Seen)> {
    let Some(progress) = progress else { return Ok((work().or_raise(py)?, Seen::default())) };
    let raised = Rc::new(RefCell::new(None));
    let (progress, raises) = (progress.clone().unbind(), raised.clone());
    let watch = move |done: u64, total: u64| {
        // C++ has released the GIL.  The callback may copy itself.
        let told = uninterrupted(|| {
            with_interpreter(|py| call_out(progress.bind(py), (done, total)).map(drop))
        });
        told.map_err(|error| raises.replace(Some(error))).is_ok()
    };
    let (made, seen) = watched(watch, work);
    match raised.take() {
        Some(error) => Err(error),
        None => Ok((made.or_raise(py)?, seen)),
    }
}

/// A copy, on the same device, of a slice that reaches little of its memory; else `None`.
#[pyfunction(name = "_copy_slice")]
pub(crate) fn copy_slice<'py>(
    object: &Bound<'py, PyAny>,
    cls: &Bound<'py, PyType>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    perhaps_made(object, cls, Bridge::copy_slice)
}

/// One array of a chunked array whose data lies on a device, or a table of one chunk for each column.
/// `None` for data on the host.
#[pyfunction(name = "_combine")]
pub(crate) fn combine<'py>(
    object: &Bound<'py, PyAny>,
    cls: &Bound<'py, PyType>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    perhaps_made(object, cls, Bridge::combine)
}

fn perhaps_made<'py>(
    object: &Bound<'py, PyAny>,
    cls: &Bound<'py, PyType>,
    make: impl Fn(&Bridge, ObjectRef<'_>, DataKind) -> Result<Option<Object>, Fault>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = object.py();
    let pyarrow = pyarrow(py)?;
    let found = make(&pyarrow.bridge, object_ref(object), kind_of(pyarrow, cls)?).or_raise(py)?;
    found.map(|found| made(py, |_| Ok(found))).transpose()
}

/// A copy of a `pyarrow.Buffer` in the memory of a destination, or if it `is_view`, the same memory as
/// the destination sees it.
#[pyfunction(name = "_buffer_to")]
pub(crate) fn buffer_to<'py>(
    buffer: &Bound<'py, PyAny>,
    destination: &Bound<'py, PyAny>,
    is_view: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let py = buffer.py();
    let pyarrow = pyarrow(py)?;
    let destination = &destination_object(pyarrow, destination)?;
    span(buffer).ok_or_else(|| expected("Buffer", buffer))?;
    let place = require_destination(pyarrow, destination)?;
    let made = made(py, |bridge| bridge.buffer_to(object_ref(buffer), &place, is_view))?;
    match span(&made) {
        Some(span) if span.device_type == CUDA => wrap_memory_of(&made),
        _ => Ok(made),
    }
}

/// A record batch that reports the device that its data lies on, and whose nulls on a device are
/// counted.  Other objects stay what they are.
#[pyfunction(name = "_placed")]
pub(crate) fn placed(batch: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    replaced(batch, Bridge::placed)
}

fn kind_of(pyarrow: &Pyarrow, class: &Bound<'_, PyType>) -> PyResult<DataKind> {
    let kinds = [
        (&pyarrow.lib.array, DataKind::Array),
        (&pyarrow.lib.record_batch, DataKind::Batch),
        (&pyarrow.lib.chunked_array, DataKind::ChunkedArray),
        (&pyarrow.lib.table, DataKind::Table),
    ];
    let found = kinds.into_iter().find(|(each, _)| class.is(each));
    found.map(|(_, kind)| kind).ok_or_else(|| expected("pyarrow class", class))
}

/// The memory manager of a place that an argument names; another destination itself.
pub(super) fn destination_object<'py>(
    pyarrow: &Pyarrow,
    destination: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    if as_destination(pyarrow, destination).is_some() {
        return Ok(destination.clone());
    }
    let py = destination.py();
    match place_of(destination)? {
        Some(Place::Device(context)) => memory_manager(py, &context),
        Some(Place::Host) => pyarrow.lib.default_cpu_memory_manager.bind(py).call0(),
        None => Ok(destination.clone()),
    }
}

/// The same, for the package's Python code.
#[pyfunction(name = "_destination")]
pub(crate) fn destination_of<'py>(destination: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    destination_object(pyarrow(destination.py())?, destination)
}

/// The destination that a `pyarrow.Device` or a `pyarrow.MemoryManager` is.
fn as_destination<'a>(pyarrow: &Pyarrow, object: &'a Bound<'_, PyAny>) -> Option<Destination<'a>> {
    let is_device = is_of(object, &pyarrow.lib.device);
    let is_place = is_device || is_of(object, &pyarrow.lib.memory_manager);
    // SAFETY: an object of its class.
    is_place.then(|| unsafe { Destination::new(object_ref(object), is_device) })
}

/// The same; pyarrow's exception for any other object.
pub(super) fn require_destination<'a>(
    pyarrow: &Pyarrow,
    object: &'a Bound<'_, PyAny>,
) -> PyResult<Destination<'a>> {
    if let Some(place) = as_destination(pyarrow, object) {
        return Ok(place);
    }
    Err(PyTypeError::new_err(format!(
        "Argument 'destination' has incorrect type (expected a pyarrow Device or MemoryManager, a \
         Context, a device number, or a name such as 'cuda:0' or 'cpu', got {})",
        object.get_type().repr()?
    )))
}

/// On the stream that is named, or on the thread's, if device memory takes part in the copy.
pub(super) fn in_contexts(
    py: Python<'_>,
    named: Option<Named>,
    to: &Destination<'_>,
    from: impl FnOnce() -> Contexts,
) -> PyResult<ChosenOrder> {
    if named.is_none() && !Stream::any_is_current() {
        return Ok(ChosenOrder::NOW);
    }
    let (to, from) = (pyarrow(py)?.bridge.destination_device(to), from());
    let numbers: Vec<_> = to.into_iter().chain(from.device()).collect();
    if numbers.is_empty() || named.is_none() && from.is_elsewhere {
        return Ok(ChosenOrder::NOW);
    }
    let contexts =
        py.detach(|| numbers.into_iter().map(Context::primary).collect::<Result<Vec<_>, _>>());
    let contexts = contexts.or_raise(py)?;
    ChosenOrder::of(py, named, &contexts.iter().collect::<Vec<_>>())
}
