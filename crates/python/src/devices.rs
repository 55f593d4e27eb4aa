//! Functions for the driver and the devices, which `pyarrow_cuda_compat/_tools/info.py` and `pygpu/` call.

use crate::errors::OrRaise;
use crate::signals::wait_for_signals;
use arrow_cuda_context::{Context, Device, driver_version};
use arrow_cuda_driver::{CudaResult, is_simulated, library_name};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The driver in use: the library's name, whether it is the simulated one, and the newest CUDA
/// version that it supports.
#[pyfunction(name = "_driver")]
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
/// context only, so asking for it makes the primary one.
#[pyfunction(name = "_device", signature = (number, *, free_memory=true))]
pub(crate) fn device(
    py: Python<'_>,
    number: u32,
    free_memory: bool,
) -> PyResult<Bound<'_, PyDict>> {
    let device = Device::get(number).or_raise(py)?;
    let facts = PyDict::new(py);
    facts.set_item("number", number)?;
    facts.set_item("name", device.name().or_raise(py)?)?;
    let (major, minor) = device.compute_capability().or_raise(py)?;
    facts.set_item("compute_capability", format!("{major}.{minor}"))?;
    facts.set_item("total_memory", device.total_memory().or_raise(py)?)?;
    if free_memory {
        match py.detach(|| Context::primary(number)?.free_memory()) {
            Ok(free) => facts.set_item("free_memory", free)?,
            Err(error) => facts.set_item("error", error.to_string())?,
        }
    }
    Ok(facts)
}

/// A property of a device, by the driver's number for it.
#[pyfunction(name = "_device_attribute")]
pub(crate) fn device_attribute(py: Python<'_>, number: u32, attribute: i32) -> PyResult<i32> {
    py.detach(|| Device::get(number)?.attribute(attribute)).or_raise(py)
}

/// The number of the device whose context is current on this thread, if one is.
#[pyfunction(name = "_current_device")]
pub(crate) fn current_device(py: Python<'_>) -> PyResult<Option<u32>> {
    Ok(py.detach(Device::current).or_raise(py)?.map(Device::number))
}

/// Makes a device's primary context current on this thread, for all libraries.
#[pyfunction(name = "_set_current_device")]
pub(crate) fn set_current_device(py: Python<'_>, number: u32) -> PyResult<()> {
    py.detach(|| Context::primary(number)?.make_current()).or_raise(py)
}

/// Destroys a device's primary context with everything in it.
#[pyfunction(name = "_reset_device")]
pub(crate) fn reset_device(py: Python<'_>, number: u32) -> PyResult<()> {
    // SAFETY: Python programs reset devices at their own risk, as by any library; what the package has made there finds
    // that it is gone.
    let reset = || unsafe { Device::get(number)?.reset() };
    wait_for_signals(py, reset)?.or_raise(py)
}
