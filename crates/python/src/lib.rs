//! The Python extension of pyarrow-cuda-compat: registers classes, converts, maps errors.
//!
//! One file a class; what they share lies below:
//!
//! | file | what |
//! |---|---|
//! | `pyarrow.rs`, `capsules.rs` | what is needed of the imported pyarrow, checked once |
//! | `convert.rs` | Python objects to Rust's and back: the only place with unsafe conversions |
//! | `graft.rs`, `classes.rs` | classes with methods from here and the memory layout of pyarrow's |
//! | `bounds.rs` | how much of a buffer a copy takes |
//! | `errors.rs` | failures as the exceptions that pyarrow raises |
//! | `lifecycle.rs` | destructors, failed releases, interpreter exit |

mod array_interface;
mod batches;
mod bounds;
mod capsules;
mod classes;
mod context;
mod convert;
mod cuda_buffer;
mod errors;
mod graft;
mod host_buffer;
mod ipc_handle;
mod lifecycle;
mod pyarrow;
mod reader;
mod writer;

use crate::classes::Classes;
use pyo3::prelude::*;
use std::path::PathBuf;

/// Prepares the module for the imported pyarrow: loads the Arrow bridge at `bridge` and adds
/// the classes.  Does not load the CUDA driver.
#[pyfunction]
#[pyo3(name = "_start", pass_module)]
fn start(module: &Bound<'_, PyModule>, bridge: &Bound<'_, PyAny>) -> PyResult<()> {
    lifecycle::start(module.py())?;
    let py = module.py();
    let pyarrow = pyarrow::start(py, &bridge.extract::<PathBuf>()?)?;
    let (buffer, file) = (pyarrow.buffer.bind(py), pyarrow.native_file.bind(py));
    let classes = classes::start(py, || {
        Ok(Classes {
            cuda_buffer: graft::class::<cuda_buffer::Methods>(py, buffer, &cuda_buffer::CLASS)?,
            host_buffer: graft::class::<host_buffer::Methods>(py, buffer, &host_buffer::CLASS)?,
            buffer_reader: graft::class::<reader::Methods>(py, file, &reader::CLASS)?,
            buffer_writer: graft::class::<writer::Methods>(py, file, &writer::CLASS)?,
        })
    })?;
    module.add("CudaBuffer", classes.cuda_buffer.bind(module.py()))?;
    module.add("HostBuffer", classes.host_buffer.bind(module.py()))?;
    module.add("BufferReader", classes.buffer_reader.bind(module.py()))?;
    module.add("BufferWriter", classes.buffer_writer.bind(module.py()))?;
    Ok(())
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(pyo3::wrap_pyfunction!(start, module)?)?;
    module.add_class::<context::PyContext>()?;
    module.add_class::<ipc_handle::PyIpcMemHandle>()?;
    module.add_function(pyo3::wrap_pyfunction!(host_buffer::new_host_buffer, module)?)?;
    module.add_function(pyo3::wrap_pyfunction!(batches::serialize_record_batch, module)?)?;
    module.add_function(pyo3::wrap_pyfunction!(batches::read_message, module)?)?;
    module.add_function(pyo3::wrap_pyfunction!(batches::read_record_batch, module)?)?;
    Ok(())
}
