//! The Python extension of pyarrow-cuda-compat: registers classes, converts, maps errors.
//!
//! One file a class; what they share lies below:
//!
//! | file | what |
//! |---|---|
//! | `pyarrow.rs`, `capsules.rs` | what is needed of the imported pyarrow, checked once |
//! | `convert.rs` | Python objects to Rust's and back |
//! | `graft.rs`, `members.rs`, `classes.rs` | classes with methods from here and the memory layout of pyarrow's |
//! | `copies.rs`, `data.rs`, `bounds.rs` | what a copy takes, and how much |
//! | `queued.rs` | copies on a stream |
//! | `views.rs` | memory that somebody else owns |
//! | `array_interface.rs`, `dlpack.rs`, `device_tensor.rs`, `device_arrays.rs` | exchange with other libraries |
//! | `memory.rs`, `transfers.rs` | the memory that is kept, the threads that copy |
//! | `errors.rs` | failures as the exceptions that pyarrow raises |
//! | `numba.rs`, `pickling.rs` | what the Numba methods, pickling and Dask, which are Python, need |
//! | `lifecycle.rs` | destructors, failed releases, interpreter exit |

mod array_interface;
mod batches;
mod bounds;
mod capsules;
mod classes;
mod context;
mod convert;
mod copies;
mod cuda_buffer;
mod data;
mod device_arrays;
mod device_tensor;
mod dlpack;
mod errors;
mod event;
mod graft;
mod host_buffer;
mod info;
mod ipc_handle;
mod lifecycle;
mod members;
mod memory;
mod numba;
mod pickling;
mod pyarrow;
mod queued;
mod reader;
mod stream;
mod transfers;
mod views;
mod writer;

use crate::classes::Classes;
use pyo3::prelude::*;
use pyo3::types::PyString;
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
            cuda_buffer: graft::class(cuda_buffer::Methods, buffer, &cuda_buffer::CLASS)?,
            host_buffer: graft::class(host_buffer::Methods, buffer, &host_buffer::CLASS)?,
            buffer_reader: graft::class(reader::Methods, file, &reader::CLASS)?,
            buffer_writer: graft::class(writer::Methods, file, &writer::CLASS)?,
        })
    })?;
    module.add("CudaBuffer", classes.cuda_buffer.bind(module.py()))?;
    module.add("HostBuffer", classes.host_buffer.bind(module.py()))?;
    module.add("BufferReader", classes.buffer_reader.bind(module.py()))?;
    module.add("BufferWriter", classes.buffer_writer.bind(module.py()))?;
    Ok(())
}

/// Where the public names are found, by `pickle` too: the module that stands in for pyarrow's.
const PUBLIC_MODULE: &str = "pyarrow._cuda";
/// The same for what pyarrow has no name for.
const PACKAGE: &str = "pyarrow_cuda_compat";

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<context::PyContext>()?;
    module.add_class::<ipc_handle::PyIpcMemHandle>()?;
    for function in [
        pyo3::wrap_pyfunction!(start, module)?,
        pyo3::wrap_pyfunction!(device_arrays::finish_export, module)?,
        pyo3::wrap_pyfunction!(device_arrays::prepare, module)?,
        pyo3::wrap_pyfunction!(device_arrays::prepare_import, module)?,
        pyo3::wrap_pyfunction!(device_arrays::finish_import, module)?,
        pyo3::wrap_pyfunction!(device_arrays::class_changed, module)?,
        pyo3::wrap_pyfunction!(numba::in_primary_context, module)?,
        pyo3::wrap_pyfunction!(numba::allocate, module)?,
        pyo3::wrap_pyfunction!(numba::allocation_of, module)?,
        pyo3::wrap_pyfunction!(numba::memory_info, module)?,
        pyo3::wrap_pyfunction!(pickling::any_is_on_device, module)?,
        pyo3::wrap_pyfunction!(pickling::array_skeleton, module)?,
        pyo3::wrap_pyfunction!(pickling::assemble, module)?,
        pyo3::wrap_pyfunction!(pickling::lend, module)?,
        pyo3::wrap_pyfunction!(pickling::new_packed_buffer, module)?,
        pyo3::wrap_pyfunction!(pickling::read_only, module)?,
        pyo3::wrap_pyfunction!(pickling::uuid, module)?,
        pyo3::wrap_pyfunction!(info::driver, module)?,
        pyo3::wrap_pyfunction!(info::device, module)?,
    ] {
        // Not `add_function`, which would list these in `__all__` as well.
        module.setattr(function.getattr("__name__")?.cast::<PyString>()?, &function)?;
    }
    let from_dlpack = pyo3::wrap_pyfunction!(dlpack::from_dlpack, module)?;
    from_dlpack.setattr("__module__", PACKAGE)?;
    module.add_function(from_dlpack)?;
    module.add_class::<device_tensor::DeviceTensor>()?;
    for function in [
        pyo3::wrap_pyfunction!(memory::memory_stats, module)?,
        pyo3::wrap_pyfunction!(memory::empty_cache, module)?,
        pyo3::wrap_pyfunction!(memory::set_cache_limit, module)?,
        pyo3::wrap_pyfunction!(transfers::set_transfer_limits, module)?,
        pyo3::wrap_pyfunction!(transfers::transfer_limits, module)?,
    ] {
        function.setattr("__module__", PACKAGE)?;
        module.add_function(function)?;
    }
    module.add_class::<event::PyEvent>()?;
    module.add_class::<stream::PyStream>()?;
    for function in [
        pyo3::wrap_pyfunction!(host_buffer::new_host_buffer, module)?,
        pyo3::wrap_pyfunction!(batches::serialize_record_batch, module)?,
        pyo3::wrap_pyfunction!(batches::read_message, module)?,
        pyo3::wrap_pyfunction!(batches::read_record_batch, module)?,
    ] {
        function.setattr("__module__", PUBLIC_MODULE)?;
        module.add_function(function)?;
    }
    Ok(())
}
