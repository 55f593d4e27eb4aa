//! The driver queries of `pyarrow_cuda_compat/info.py`.

use crate::errors::OrRaise;
use arrow_cuda_context::{Context, Device, driver_version};
use arrow_cuda_driver::{CudaResult, is_simulated, library_name};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The driver in use: the library's name, whether it is the simulated one, and the newest CUDA
/// version that it supports.
#[pyfunction]
#[pyo3(name = "_driver")]
pub(crate) fn driver(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let found = || CudaResult::Ok((library_name()?, is_simulated()?));
    let (library, simulated) = py.detach(found).or_raise(py)?;
    let facts = PyDict::new(py);
    facts.set_item("library", library)?;
    facts.set_item("simulated", simulated)?;
    let version = driver_version().or_raise(py)?;
    facts.set_item("cuda", format!("{}.{}", version / 1000, version % 1000 / 10))?;
    facts.set_item("devices", py.detach(Device::count).or_raise(py)?)?;
    Ok(facts)
}

/// One device: its name, memory in bytes, and compute capability.  Free memory is known in a
/// context only, so this makes the primary one.
#[pyfunction]
#[pyo3(name = "_device")]
pub(crate) fn device(py: Python<'_>, number: u32) -> PyResult<Bound<'_, PyDict>> {
    let device = Device::get(number).or_raise(py)?;
    let facts = PyDict::new(py);
    facts.set_item("number", number)?;
    facts.set_item("name", device.name().or_raise(py)?)?;
    let (major, minor) = device.compute_capability().or_raise(py)?;
    facts.set_item("compute_capability", format!("{major}.{minor}"))?;
    facts.set_item("total_memory", device.total_memory().or_raise(py)?)?;
    match py.detach(|| Context::primary(number)?.free_memory()) {
        Ok(free) => facts.set_item("free_memory", free)?,
        Err(error) => facts.set_item("error", error.to_string())?,
    }
    Ok(facts)
}
