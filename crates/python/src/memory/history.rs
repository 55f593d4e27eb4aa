//! For `memory_report` and `record_allocations`: the blocks of the pools, and the history of device memory.

use crate::errors::OrRaise;
use crate::interpreter::{with_exception_kept, with_interpreter};
use arrow_cuda_context::{MemoryBlock, MemoryEvent, MemoryHistory, MemorySegment, memory_segments};
use arrow_cuda_driver::is_exiting;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

/// The most calls of a stack that are recorded.
const MAX_DEPTH: usize = 64;

/// Where blocks were allocated: one object of Python for each text.
#[derive(Default)]
struct Origins<'py>(HashMap<*const u8, Bound<'py, PyString>>);

impl<'py> Origins<'py> {
    fn get(&mut self, py: Python<'py>, origin: Option<&Arc<str>>) -> Option<Bound<'py, PyString>> {
        let origin = origin?;
        let known = self.0.entry(origin.as_ptr());
        Some(known.or_insert_with(|| PyString::new(py, origin)).clone())
    }
}

/// The address, size, requested size and state of a block, and where it was allocated.
type Block<'py> = (u64, u64, u64, &'static str, Option<Bound<'py, PyString>>);

/// Device, handle of the context, whether it is on the host, class, address, size, blocks.
type Segment<'py> = (u32, usize, bool, &'static str, u64, u64, Vec<Block<'py>>);

/// All memory of the pools.
#[pyfunction(name = "_memory_segments")]
pub(crate) fn segments(py: Python<'_>) -> Vec<Segment<'_>> {
    let found = py.detach(memory_segments);
    let mut origins = Origins::default();
    let of_segment = |segment: &MemorySegment| {
        let MemorySegment { ref context, is_on_host, address, size, class, ref blocks, .. } =
            *segment;
        let (device, handle) = (context.device().number(), context.handle());
        let of_block = |block: &MemoryBlock| {
            let origin = origins.get(py, block.origin.as_ref());
            (block.address, block.size, block.requested, block.state.name(), origin)
        };
        let blocks = blocks.iter().map(of_block).collect();
        (device, handle, is_on_host, class.name(), address, size, blocks)
    };
    found.iter().map(of_segment).collect()
}

/// Begins to record the last `max_events` events.  False if they are recorded already.
#[pyfunction(name = "_start_memory_history")]
pub(crate) fn start(py: Python<'_>, max_events: usize) -> PyResult<bool> {
    py.detach(|| MemoryHistory::start(max_events, stack)).or_raise(py)
}

/// Action, device, address, bytes, seconds since 1970, and where the block was allocated.
type Event<'py> = (&'static str, u32, u64, u64, f64, Option<Bound<'py, PyString>>);

/// The events so far.
#[pyfunction(name = "_memory_history")]
pub(crate) fn events(py: Python<'_>) -> PyResult<Vec<Event<'_>>> {
    Ok(to_python(py, &py.detach(MemoryHistory::events).or_raise(py)?))
}

/// Ends the record.
#[pyfunction(name = "_stop_memory_history")]
pub(crate) fn stop(py: Python<'_>) -> PyResult<Vec<Event<'_>>> {
    Ok(to_python(py, &py.detach(MemoryHistory::stop).or_raise(py)?))
}

fn to_python<'py>(py: Python<'py>, events: &[MemoryEvent]) -> Vec<Event<'py>> {
    let mut origins = Origins::default();
    let of_event = |event: &MemoryEvent| {
        let seconds = event.time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let origin = origins.get(py, event.origin.as_ref());
        (event.action.name(), event.device, event.address, event.size, seconds, origin)
    };
    events.iter().map(of_event).collect()
}

/// The calls of Python that this thread is in, the innermost first: the file, line and name of each, with a null
/// character after each of these.  None on threads of which Python does not know.
fn stack() -> Option<String> {
    // SAFETY: may be called on any thread.
    let is_unknown = unsafe { ffi::PyGILState_GetThisThreadState() }.is_null();
    if is_unknown || is_exiting() {
        return None;
    }
    with_interpreter(|py| with_exception_kept(py, || frames(py))).ok()
}

/// Reads attributes of frames and code only, which runs no Python code.
fn frames(py: Python<'_>) -> PyResult<String> {
    // SAFETY: with the GIL; borrowed from this thread, which is in that call.
    let frame = unsafe { ffi::PyEval_GetFrame() }.cast::<ffi::PyObject>();
    // SAFETY: as above.
    let mut frame = unsafe { Bound::from_borrowed_ptr_or_opt(py, frame) };
    let mut text = String::new();
    for _ in 0..MAX_DEPTH {
        let Some(this) = frame else { break };
        let code = this.getattr(intern!(py, "f_code"))?;
        let file = code.getattr(intern!(py, "co_filename"))?;
        let name = code.getattr(intern!(py, "co_qualname"))?;
        // None in code that has no lines.
        let line = this.getattr(intern!(py, "f_lineno"))?.extract::<u32>().unwrap_or(0);
        // Writing to a String does not fail.
        let _written = write!(text, "{file}\0{line}\0{name}\0");
        frame = Some(this.getattr(intern!(py, "f_back"))?).filter(|back| !back.is_none());
    }
    Ok(text)
}
