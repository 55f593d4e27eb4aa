//! Indexing, slicing and assignment.

use super::class::PyDeviceArray;
use super::host;
use crate::errors::OrRaise;
use arrow_cuda_numba_bridge::{Index, MAX_DIMENSIONS, Slice};
use pyo3::exceptions::{PyIndexError, PyOverflowError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyInt, PySlice, PyString, PyTuple};

/// Every dimension may go, as many may be new, and `...` stands for the rest.
const MAX_ENTRIES: usize = 2 * MAX_DIMENSIONS + 1;

#[pymethods]
impl PyDeviceArray {
    fn __getitem__(&self, key: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Some(field) = self.field_of(key)? {
            return Ok(field);
        }
        let (py, entries) = (key.py(), entries(key)?);
        let array = self.array.index(&entries).or_raise(py)?;
        let arrow = self.arrow_of_part(py, &entries, &array)?;
        Ok(Self::with_arrow(array, self.dtype.clone_ref(py), arrow))
    }

    fn __setitem__(&self, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        host::assign(&self.__getitem__(key)?, value)
    }

    fn __delitem__(&self, _key: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(PyTypeError::new_err("elements of a device array cannot be deleted"))
    }

    fn __len__(&self) -> PyResult<usize> {
        match self.array.layout().shape().first() {
            Some(length) => Ok(length.unsigned_abs() as usize),
            None => Err(PyTypeError::new_err("len() of unsized object")),
        }
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        if slf.get().array.layout().ndim() == 0 {
            return Err(PyTypeError::new_err("iteration over a 0-d array"));
        }
        // SAFETY: a live object that can be indexed; the result is a new reference.
        unsafe { Bound::from_owned_ptr_or_err(slf.py(), ffi::PySeqIter_New(slf.as_ptr())) }
    }
}

impl PyDeviceArray {
    /// The field of structures that a key names; none for the keys of elements.
    fn field_of(&self, key: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        let Ok(name) = key.cast::<PyString>() else { return Ok(None) };
        let py = key.py();
        let Some(field) = self.dtype.field(name)? else { return Ok(None) };
        self.check_no_nulls(py)?;
        let array = self.array.field(field.offset, field.dtype.element(), &field.shape);
        Ok(Some(Self::new(array.or_raise(py)?, field.dtype)))
    }
}

fn entries(key: &Bound<'_, PyAny>) -> PyResult<Vec<Index>> {
    match key.cast::<PyTuple>() {
        Ok(keys) if keys.len() > MAX_ENTRIES => {
            let text = format!("too many indices for array: {} in one expression", keys.len());
            Err(PyIndexError::new_err(text))
        }
        Ok(keys) => keys.iter_borrowed().map(|key| entry(&key)).collect(),
        Err(_) => Ok(vec![entry(key)?]),
    }
}

fn entry(key: &Bound<'_, PyAny>) -> PyResult<Index> {
    if let Ok(slice) = key.cast::<PySlice>() {
        return unpacked(slice).map(Index::Slice);
    }
    if key.is_none() {
        return Ok(Index::New);
    }
    if key.cast::<PyEllipsis>().is_ok() {
        return Ok(Index::Rest);
    }
    // NumPy takes a bool for a mask, and an array of one element for a list of places.
    let is_number = !key.is_instance_of::<PyBool>() && !has_dimensions(key)?;
    match is_number.then(|| key.extract::<i64>()) {
        Some(Ok(at)) => return Ok(Index::At(at)),
        Some(Err(error)) if error.is_instance_of::<PyOverflowError>(key.py()) => {
            return Err(PyIndexError::new_err(format!("index {key} is out of bounds")));
        }
        _ => {}
    }
    Err(PyIndexError::new_err(format!(
        "only integers, slices (`:`), ellipsis (`...`) and None are valid indices of a device \
             array, not {}: cupy.asarray(array)[...] chooses elements on the device, and so does \
             torch.from_dlpack(array)[...]",
        key.get_type()
    )))
}

/// Whether a key is an array of dimensions.  Tensors of PyTorch that have one element are integers to Python, too.
fn has_dimensions(key: &Bound<'_, PyAny>) -> PyResult<bool> {
    if key.is_instance_of::<PyInt>() {
        return Ok(false);
    }
    let dimensions = key.getattr_opt("ndim")?.and_then(|number| number.extract::<usize>().ok());
    Ok(dimensions.is_some_and(|number| number > 0))
}

fn unpacked(slice: &Bound<'_, PySlice>) -> PyResult<Slice> {
    let (mut start, mut stop, mut step) = (0, 0, 0);
    // SAFETY: a live slice, and places for its three numbers; what is absent becomes the number
    // that means the same for this step.
    let status = unsafe {
        ffi::PySlice_Unpack(slice.as_ptr(), &raw mut start, &raw mut stop, &raw mut step)
    };
    if status != 0 {
        return Err(PyErr::fetch(slice.py()));
    }
    let number = |number: isize| Some(number as i64);
    Ok(Slice { start: number(start), stop: number(stop), step: number(step) })
}
