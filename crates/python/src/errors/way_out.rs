//! What to do with an argument of the wrong kind: the call that does what was meant.

use pyo3::prelude::*;
use pyo3::types::PyType;

/// The kinds of arguments that functions take.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Whatever has bytes in host memory.
    Bytes,
    /// Device memory of another owner.
    DeviceMemory,
    /// Columns one by one, by DLPack.
    Tensor,
    CudaBuffer,
    Buffer,
    RecordBatch,
    Context,
    Schema,
    Handle,
}

/// The kinds of objects that they get instead.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Given {
    Column,
    Batch,
    Table,
    Buffer,
    DeviceArray,
    Frame,
    Series,
    NumPy,
    Tensor,
    Bytes,
    Bytearray,
    Text,
    Path,
    List,
    Iterator,
    Number,
}

/// By class and its module: what its objects, and those of its subclasses, are.
const CLASSES: [(&str, &str, Given); 23] = [
    ("pyarrow.lib", "Array", Given::Column),
    ("pyarrow.lib", "ChunkedArray", Given::Column),
    ("pyarrow.lib", "RecordBatch", Given::Batch),
    ("pyarrow.lib", "Table", Given::Table),
    ("pyarrow.lib", "Buffer", Given::Buffer),
    ("pyarrow_cuda_compat", "DeviceArray", Given::DeviceArray),
    ("pandas.core.frame", "DataFrame", Given::Frame),
    ("pandas", "DataFrame", Given::Frame),
    ("pandas.core.series", "Series", Given::Series),
    ("pandas", "Series", Given::Series),
    ("numpy", "ndarray", Given::NumPy),
    ("torch", "Tensor", Given::Tensor),
    ("builtins", "bytes", Given::Bytes),
    ("builtins", "bytearray", Given::Bytearray),
    ("builtins", "str", Given::Text),
    ("pathlib", "PurePath", Given::Path),
    ("pathlib._local", "PurePath", Given::Path),
    ("builtins", "list", Given::List),
    ("builtins", "tuple", Given::List),
    ("builtins", "range", Given::List),
    ("builtins", "generator", Given::Iterator),
    ("builtins", "map", Given::Iterator),
    ("builtins", "int", Given::Number),
];

const TO_DEVICE: &str = "it is in host memory, and Context.buffer_from_data copies it to a device";
const OF_FILE: &str = "Context.buffer_from_file(path) reads a file into a device buffer";
const OF_ARRAY: &str = "array.buffers() lists its buffers";
const OF_COLUMN: &str = "it has many buffers: table.column(0).chunk(0).buffers() lists those of a column, and \
                         table.copy_to(context) copies all of them to a device";
const OF_BATCH: &str = "it has many buffers: batch.column(0).buffers() lists those of a column, and \
                        batch.copy_to(context) copies all of them to a device";
const PRIMARY: &str = "pyarrow.cuda.Context(number) is the context of a device";

/// By what a function takes: what to do with what it got.
const WAYS_OUT: [(Wanted, &[Given], &str); 36] = [
    (
        Wanted::Bytes,
        &[Given::Column],
        "array.copy_to(context) copies it to a device, and array.buffers() lists its buffers",
    ),
    (Wanted::Bytes, &[Given::Batch], "batch.copy_to(context) copies it to a device"),
    (Wanted::Bytes, &[Given::Table], "table.copy_to(context) copies it to a device"),
    (Wanted::Bytes, &[Given::DeviceArray], "it is on a device, and array.copy() copies it there"),
    (
        Wanted::Bytes,
        &[Given::Frame],
        "pyarrow.Table.from_pandas(frame).copy_to(context) copies it to a device",
    ),
    (
        Wanted::Bytes,
        &[Given::Series],
        "series.to_numpy() has its bytes, and pyarrow.array(series).copy_to(context) copies it as an Arrow array",
    ),
    (
        Wanted::Bytes,
        &[Given::Text],
        "text.encode() has its bytes, and Context.buffer_from_file(path) reads a file",
    ),
    (Wanted::Bytes, &[Given::Path], OF_FILE),
    (
        Wanted::Bytes,
        &[Given::List],
        "numpy.array(values) has bytes, and pyarrow.array(values).copy_to(context) copies them as an Arrow array",
    ),
    (
        Wanted::Bytes,
        &[Given::Iterator],
        "numpy.fromiter(values, dtype) has bytes, and numpy.concatenate(arrays) those of several arrays",
    ),
    (Wanted::Bytes, &[Given::Number], "Context.new_buffer(nbytes) allocates memory"),
    (Wanted::Bytes, &[Given::NumPy], "numpy.ascontiguousarray(array) has no gaps"),
    (Wanted::Bytes, &[Given::Tensor], "DeviceArray.from_host(tensor) copies it to a device"),
    (Wanted::DeviceMemory, &[Given::NumPy, Given::Bytes, Given::Bytearray], TO_DEVICE),
    (
        Wanted::DeviceMemory,
        &[Given::List],
        "it is in host memory, and DeviceArray.from_host copies it to a device",
    ),
    (Wanted::DeviceMemory, &[Given::Column], OF_ARRAY),
    (Wanted::DeviceMemory, &[Given::Table], OF_COLUMN),
    (Wanted::DeviceMemory, &[Given::Batch], OF_BATCH),
    (Wanted::DeviceMemory, &[Given::Text, Given::Path], OF_FILE),
    (
        Wanted::Tensor,
        &[Given::Batch, Given::Table],
        "a tensor is one column, such as table.column(0) with combine_chunks()",
    ),
    (
        Wanted::Tensor,
        &[Given::List, Given::Series],
        "it is in host memory, and DeviceArray.from_host copies it to a device",
    ),
    (Wanted::CudaBuffer, &[Given::Buffer, Given::NumPy, Given::Bytes, Given::Bytearray], TO_DEVICE),
    (Wanted::CudaBuffer, &[Given::Text, Given::Path], OF_FILE),
    (Wanted::CudaBuffer, &[Given::Column], OF_ARRAY),
    (Wanted::CudaBuffer, &[Given::Table], OF_COLUMN),
    (Wanted::CudaBuffer, &[Given::Batch], OF_BATCH),
    (
        Wanted::Buffer,
        &[Given::NumPy, Given::Bytearray],
        "pyarrow.py_buffer(data) is one over its memory",
    ),
    (
        Wanted::Buffer,
        &[Given::Bytes],
        "pyarrow.py_buffer(data) is one over its memory, for reading only",
    ),
    (Wanted::Buffer, &[Given::Column], "array.buffers() lists its buffers"),
    (
        Wanted::RecordBatch,
        &[Given::Table],
        "table.to_batches() lists its batches, one for each call",
    ),
    (Wanted::RecordBatch, &[Given::Frame], "pyarrow.RecordBatch.from_pandas(frame) is one"),
    (Wanted::RecordBatch, &[Given::Column], "pyarrow.record_batch([array], [name]) is one"),
    (Wanted::Context, &[Given::Number], PRIMARY),
    (Wanted::Context, &[Given::Text], PRIMARY),
    (
        Wanted::Handle,
        &[Given::Bytes, Given::Bytearray, Given::Buffer],
        "IpcMemHandle.from_buffer(pyarrow.py_buffer(data)) makes one of its bytes",
    ),
    (Wanted::Schema, &[Given::Batch, Given::Table], "its attribute schema is one"),
];

/// What to do with an object where a function takes something else; `None` if no way is known.
pub(crate) fn way_out(wanted: Wanted, given: &Bound<'_, PyAny>) -> Option<&'static str> {
    let given = kind_of(given)?;
    let row = WAYS_OUT.iter().find(|(each, kinds, _)| *each == wanted && kinds.contains(&given))?;
    Some(row.2)
}

/// An error for such an object, which goes on with what to do, if a way is known.
pub(crate) fn explained(error: PyErr, wanted: Wanted, given: &Bound<'_, PyAny>) -> PyErr {
    match way_out(wanted, given) {
        Some(text) => extended(given.py(), &error, text),
        None => error,
    }
}

/// An error of the same class, whose text goes on.
pub(crate) fn extended(py: Python<'_>, error: &PyErr, text: &str) -> PyErr {
    let value = error.value(py);
    let extended = PyErr::from_type(error.get_type(py), format!("{value}; {text}"));
    // Errors of the driver have its number.  If it cannot be added, the error stays the same.
    if let Ok(Some(code)) = value.getattr_opt("code") {
        let _ = extended.value(py).setattr("code", code);
    }
    extended
}

fn kind_of(object: &Bound<'_, PyAny>) -> Option<Given> {
    object.get_type().mro().iter().find_map(|class| {
        let class = class.cast::<PyType>().ok()?;
        let (module, name) = (class.module().ok()?, class.name().ok()?);
        let found = CLASSES.iter().find(|(of, called, _)| module == *of && name == *called)?;
        Some(found.2)
    })
}
