//! The Python extension of pyarrow-cuda-compat: converts values, maps errors, registers names.
//!
//! | folder or file | what |
//! |---|---|
//! | `memory/` | contexts, buffers, the cache of released memory |
//! | `copies/` | what a copy takes and how it is made, with and without a stream |
//! | `streams/` | streams and events, and streams of other libraries |
//! | `files/` | readers and writers; files on their way to buffers and back |
//! | `ipc/` | handles of memory for other processes, record batches as messages |
//! | `exchange/` | DLPack, the CUDA array interface, Numba, pickles, the C Device interface |
//! | `guards/` | functions of pyarrow's that read data on the host, and what they do with other data |
//! | `arrays/` | typed arrays, on top of the protocols in `exchange/` |
//! | `pyarrow/` | the imported pyarrow: what it has, its objects from and to Rust, classes that extend its own |
//! | `sequences.rs` | sequences from outside, each with a bound |
//! | `errors.rs` | failures as the exceptions that pyarrow raises |
//! | `interpreter/` | destructors, failed releases, signals during waits, interpreter exit |
//! | `package.rs`, `names.rs` | what the Python package passes in, what it finds here |
//! | `tracing.rs` | which calls are recorded, for logging and NVTX |
//! | `info.rs` | what it asks of the driver and the devices |

// Nothing that callers pass may panic.  Tests may.
#![cfg_attr(
    not(test),
    deny(
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::string_slice,
        clippy::unreachable,
        clippy::unwrap_used,
    )
)]

mod arrays;
mod copies;
mod errors;
mod exchange;
mod files;
mod guards;
mod info;
mod interpreter;
mod ipc;
mod memory;
mod names;
mod package;
mod pyarrow;
mod sequences;
mod streams;
mod tracing;

use crate::files::{reader, writer};
use crate::memory::{buffer, host_buffer, pinned_pool};
use crate::names::Names;
use crate::package::PackageFunctions;
use crate::pyarrow::classes::{self, Classes};
use crate::pyarrow::graft;
use pyo3::prelude::*;
use pyo3::wrap_pyfunction;
use std::path::PathBuf;

/// Prepares the module for the imported pyarrow: loads the Arrow bridge at `bridge` and adds
/// the classes that extend pyarrow's.  `functions` are the package's own, which methods of the
/// classes call.  Does not load the CUDA driver.
#[pyfunction]
#[pyo3(name = "_start", pass_module)]
fn start(
    module: &Bound<'_, PyModule>,
    bridge: &Bound<'_, PyAny>,
    functions: PackageFunctions,
) -> PyResult<()> {
    let py = module.py();
    interpreter::check_first_interpreter(py)?;
    interpreter::start(py)?;
    package::start(py, functions);
    let pyarrow = pyarrow::start(py, &bridge.extract::<PathBuf>()?)?;
    let (base, file) = (pyarrow.buffer.bind(py), pyarrow.native_file.bind(py));
    let pool = pyarrow.memory_pool.bind(py);
    let classes = classes::start(py, || {
        Ok(Classes {
            cuda_buffer: graft::class(buffer::Methods, base, &buffer::CLASS)?,
            host_buffer: graft::class(host_buffer::Methods, base, &host_buffer::CLASS)?,
            buffer_reader: graft::class(reader::Methods, file, &reader::CLASS)?,
            buffer_writer: graft::class(writer::Methods, file, &writer::CLASS)?,
            pinned_memory_pool: graft::class(pinned_pool::Methods, pool, &pinned_pool::CLASS)?,
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
    let names = Names::of(module);
    names.private(&wrap_pyfunction!(start, module)?)?;
    names.private(&wrap_pyfunction!(sequences::dimensions, module)?)?;
    names.private(&wrap_pyfunction!(tracing::set_traced, module)?)?;
    names.private(&wrap_pyfunction!(info::driver, module)?)?;
    names.private(&wrap_pyfunction!(info::device, module)?)?;
    names.private(&wrap_pyfunction!(info::device_attribute, module)?)?;
    names.private(&wrap_pyfunction!(info::current_device, module)?)?;
    names.private(&wrap_pyfunction!(info::set_current_device, module)?)?;
    names.private(&wrap_pyfunction!(info::reset_device, module)?)?;
    memory::register(&names)?;
    copies::register(&names)?;
    streams::register(&names)?;
    files::register(&names)?;
    ipc::register(&names)?;
    exchange::register(&names)?;
    guards::register(&names)?;
    arrays::register(&names)
}
