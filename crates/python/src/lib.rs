//! The Python extension of pyarrow-cuda-compat: converts values, maps errors, registers names.
//!
//! Each module uses only modules before it in this order: registration, interpreter, errors, signals,
//! bounded_sequences, pyarrow, tracing, devices, contexts, memory, streams, copies, ipc, exchange, files, buffers,
//! device_array, guards.

// Nothing that callers pass may panic.  Tests may.
#![cfg_attr(not(test), deny(clippy::expect_used, clippy::panic, clippy::unwrap_used))]
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::string_slice, clippy::unreachable))]

mod bounded_sequences;
mod buffers;
mod contexts;
mod copies;
mod device_array;
mod devices;
mod errors;
mod exchange;
mod files;
mod guards;
mod interpreter;
mod ipc;
mod memory;
mod pyarrow;
mod registration;
mod signals;
mod streams;
mod tracing;

use crate::buffers::{cuda_buffer, host_buffer};
use crate::files::{reader, writer};
use crate::memory::pinned_pool;
use crate::pyarrow::classes::{self, Classes};
use crate::pyarrow::cython_subclass::make;
use crate::registration::private;
use pyo3::prelude::*;
use std::path::PathBuf;

/// Prepares the module for the imported pyarrow: loads the Arrow bridge at `bridge` and adds
/// the classes that extend pyarrow's.  Does not load the CUDA driver.
#[pyfunction(name = "_start", pass_module)]
fn start(module: &Bound<'_, PyModule>, bridge: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = module.py();
    interpreter::check_first_interpreter(py)?;
    interpreter::start(py)?;
    let pyarrow = pyarrow::start(py, &bridge.extract::<PathBuf>()?)?;
    let (base, file) = (pyarrow.lib.buffer.bind(py), pyarrow.lib.native_file.bind(py));
    let pool = pyarrow.lib.memory_pool.bind(py);
    let classes = classes::start(py, || {
        Ok(Classes {
            cuda_buffer: make(cuda_buffer::Methods, base, &cuda_buffer::CLASS)?,
            host_buffer: make(host_buffer::Methods, base, &host_buffer::CLASS)?,
            buffer_reader: make(reader::Methods, file, &reader::CLASS)?,
            buffer_writer: make(writer::Methods, file, &writer::CLASS)?,
            pinned_memory_pool: make(pinned_pool::Methods, pool, &pinned_pool::CLASS)?,
        })
    })?;
    module.add("CudaBuffer", classes.cuda_buffer.bind(py))?;
    module.add("HostBuffer", classes.host_buffer.bind(py))?;
    module.add("BufferReader", classes.buffer_reader.bind(py))?;
    module.add("BufferWriter", classes.buffer_writer.bind(py))?;
    module.add("PinnedMemoryPool", classes.pinned_memory_pool.bind(py))
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // Not `add`, which lists the name in `__all__`.
    module.setattr("__version__", env!("CARGO_PKG_VERSION"))?;
    private!(
        module,
        start,
        bounded_sequences::dimensions,
        tracing::set_traced,
        tracing::recorded,
        devices::driver,
        devices::device,
        devices::device_attribute,
        devices::current_device,
        devices::set_current_device,
        devices::reset_device,
    )?;
    contexts::register(module)?;
    memory::register(module)?;
    streams::register(module)?;
    copies::register(module)?;
    ipc::register(module)?;
    exchange::register(module)?;
    files::register(module)?;
    buffers::register(module)?;
    device_array::register(module)?;
    guards::register(module)
}
