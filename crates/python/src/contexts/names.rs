//! Names and numbers of devices: `cuda:0` and the others that PyTorch and JAX use.

use crate::errors::{OrRaise, extended};
use arrow_cuda_context::Device;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

/// The number of a device, or its name, where upstream takes a number.
#[derive(Clone, Copy)]
pub(super) struct DeviceNumber(pub(super) i32);

impl FromPyObject<'_, '_> for DeviceNumber {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let Ok(name) = object.cast::<PyString>() else {
            return object.extract().map(Self).map_err(|error| {
                let text = "pass the number of a device, which is 0 for the first one, or a name such as 'cuda:0'";
                extended(object.py(), &error, text)
            });
        };
        let number = match device_called(&name)? {
            Some(number) => existing(object.py(), Some(number), &name)?,
            None => return Err(is_host()),
        };
        Ok(Self(number.cast_signed()))
    }
}

/// The number of the device that PyTorch and JAX call so; `None` for the host.
pub(super) fn device_called(name: &Bound<'_, PyString>) -> PyResult<Option<u32>> {
    let text = name.to_string_lossy();
    if text == "cpu" {
        return Ok(None);
    }
    let number = text.strip_prefix("cuda:").and_then(|number| number.parse::<u32>().ok());
    let number = number.filter(|number| text == format!("cuda:{number}"));
    number.or((text == "cuda").then_some(0)).map(Some).ok_or_else(|| {
        PyTypeError::new_err(format!(
            "{} names no place: pass 'cuda:0' or another number, 'cuda' for device 0, or, to copy to host memory, \
             'cpu'",
            name.repr().map_or_else(|_| text.to_string(), |repr| repr.to_string())
        ))
    })
}

/// The number of a device, if there is one; `given` is the argument.
pub(super) fn existing(
    py: Python<'_>,
    number: Option<u32>,
    given: &Bound<'_, PyAny>,
) -> PyResult<u32> {
    let count = py.detach(Device::count).or_raise(py)?;
    number.filter(|number| *number < count).ok_or_else(|| {
        let devices = match count {
            1 => "there is 1 device, which is number 0".to_owned(),
            count => format!("there are {count} devices, numbered from 0"),
        };
        PyValueError::new_err(format!("device {given} does not exist: {devices}"))
    })
}

pub(super) fn is_host() -> PyErr {
    PyValueError::new_err("'cpu' is the host, and this needs a device: pass 'cuda:0' or its number")
}
