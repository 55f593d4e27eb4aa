//! Streams of the C Device interface, in capsules.  The methods are added to pyarrow's classes in
//! Python: `pyarrow_cuda_compat/_patches/device_streams.py`.

use super::pointers::in_capsule;
use crate::errors::{OrRaise, expected};
use crate::pyarrow::from_pyarrow::{is_of, object_ref};
use crate::pyarrow::to_pyarrow::made;
use crate::pyarrow::{cython_subclass, pyarrow};
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{CStr, c_void};

/// The name of capsules that hold a stream.
const STREAM: &CStr = c"arrow_device_array_stream";

/// `ArrowDeviceArrayStream`; C++ compares the size with its own.
#[repr(C)]
#[derive(Default)]
struct Stream {
    device_type: i32,
    get_schema: usize,
    get_next: usize,
    get_last_error: usize,
    /// None once it is released.
    release: Option<unsafe extern "C" fn(*mut Self)>,
    private_data: usize,
}

const _: () = assert!(size_of::<Stream>() == 48);

/// A capsule with a stream of a table's batches, a chunked array's chunks or a reader's batches.
#[pyfunction(name = "_export_stream")]
pub(crate) fn export_stream<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    let pyarrow = pyarrow(py)?;
    let stream = Box::into_raw(Box::new(Stream::default()));
    // SAFETY: the capsule owns the structure, which its destructor frees.
    let capsule = unsafe {
        let capsule = ffi::PyCapsule_New(stream.cast(), STREAM.as_ptr(), Some(drop_capsule));
        Bound::from_owned_ptr_or_err(py, capsule).inspect_err(|_| drop(Box::from_raw(stream)))?
    };
    let is_reader = is_of(object, &pyarrow.lib.record_batch_reader);
    // SAFETY: a reader by its class, and a released structure.
    unsafe { pyarrow.bridge.export_stream(object_ref(object), is_reader, stream.cast()) }
        .or_raise(py)?;
    Ok(capsule)
}

/// A `pyarrow.RecordBatchReader` of the stream in a capsule, which it takes over.
#[pyfunction(name = "_import_stream")]
pub(crate) fn import_stream<'py>(capsule: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = capsule.py();
    let pyarrow = pyarrow(py)?;
    let stream = stream_in(capsule)?;
    let class = pyarrow.lib.record_batch_reader.bind(py);
    let reader = cython_subclass::new_instance(class, class)?;
    // SAFETY: a fresh object of the class, and a capsule of the name.
    unsafe { pyarrow.bridge.import_stream(object_ref(&reader), stream) }.or_raise(py)?;
    Ok(reader)
}

/// A `pyarrow.ChunkedArray` of the stream in a capsule, which is taken over.
#[pyfunction(name = "_import_chunks")]
pub(crate) fn import_chunks<'py>(capsule: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let stream = stream_in(capsule)?;
    // SAFETY: a capsule of the name, and the GIL is held.
    made(capsule.py(), |bridge| unsafe { bridge.import_chunks(stream) })
}

fn stream_in(capsule: &Bound<'_, PyAny>) -> PyResult<*mut c_void> {
    in_capsule(capsule, Some(STREAM))
        .ok_or_else(|| expected("'arrow_device_array_stream' capsule", capsule))
}

/// A consumer that has taken the stream over has marked it as released.
unsafe extern "C" fn drop_capsule(capsule: *mut ffi::PyObject) {
    // SAFETY: Python calls this with the capsule, whose name never changes, and which owns the structure.
    unsafe {
        let stream = ffi::PyCapsule_GetPointer(capsule, STREAM.as_ptr()).cast::<Stream>();
        if stream.is_null() {
            return ffi::PyErr_Clear();
        }
        if let Some(release) = (*stream).release {
            release(stream);
        }
        drop(Box::from_raw(stream));
    }
}
