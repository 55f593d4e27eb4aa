//! The types of elements: NumPy's dtypes from and to Rust.

use crate::bounded_sequences::integers;
use crate::errors::OrRaise;
use arrow_cuda_numba_bridge::{ElementType, Kind};
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;

pub(crate) struct Field {
    pub(crate) dtype: DType,
    /// Where in the structure it begins, in bytes.
    pub(crate) offset: usize,
    /// The lengths of its own dimensions, if it is an array.
    pub(crate) shape: Vec<i64>,
}

pub(crate) struct DType {
    element: ElementType,
    /// NumPy's object, where the element's kind and size do not say everything: dates, structures.
    described: Option<Py<PyArrayDescr>>,
}

impl DType {
    /// The dtype that an argument names, as `numpy.dtype` understands it.
    ///
    /// Refuses elements that are not plain bytes of a fixed size, and text, which NumPy pads.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        // Nearly every one is a number, whose typestr is parsed without NumPy.
        if let Ok(typestr) = object.extract::<&str>()
            && let Ok(element) = typestr.parse()
            && let Some(number) = Self::number(element)
        {
            return Ok(number);
        }
        let py = object.py();
        if object.is_none() {
            // NumPy would interpret it as its default, float64.
            return Err(PyTypeError::new_err("a device array needs a dtype, not None"));
        }
        let dtype = match object.cast::<PyArrayDescr>() {
            Ok(dtype) => dtype.clone(),
            Err(_) => PyArrayDescr::new(py, object)?,
        };
        let refused = |why: &str| {
            PyTypeError::new_err(format!("a device array cannot have elements of {dtype:?}: {why}"))
        };
        if dtype.has_object() || dtype.kind() == b'O' {
            return Err(refused("they are Python objects"));
        }
        if matches!(dtype.kind(), b'S' | b'U' | b'T') {
            return Err(refused("kernels do not know strings; an integer type has their bytes"));
        }
        if dtype.has_subarray() {
            return Err(refused("the lengths of its subarray belong to the array's shape"));
        }
        if dtype.itemsize() == 0 {
            return Err(refused("they have no bytes"));
        }
        let text = dtype.getattr(intern!(py, "str"))?;
        let element: ElementType = text.extract::<&str>()?.parse().or_raise(py)?;
        Ok(Self::number(element)
            .unwrap_or_else(|| Self { element, described: Some(dtype.unbind()) }))
    }

    /// The dtype of elements that another library has described by kind and size alone.
    pub(crate) fn of_element(element: ElementType) -> Self {
        Self { element, described: None }
    }

    fn number(element: ElementType) -> Option<Self> {
        (element.kind() != Kind::Opaque).then(|| Self::of_element(element))
    }

    pub(crate) fn element(&self) -> ElementType {
        self.element
    }

    pub(crate) fn to_numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDescr>> {
        match &self.described {
            Some(dtype) => Ok(dtype.bind(py).clone()),
            None => PyArrayDescr::new(py, self.element.to_string()),
        }
    }

    /// The typestr of the CUDA array interface.
    pub(crate) fn typestr(&self, py: Python<'_>) -> PyResult<String> {
        match &self.described {
            Some(dtype) => dtype.bind(py).getattr(intern!(py, "str"))?.extract(),
            None => Ok(self.element.to_string()),
        }
    }

    /// The number of which the addresses of elements have to be multiples, for kernels that load them.
    pub(crate) fn alignment(&self, py: Python<'_>) -> PyResult<usize> {
        match &self.described {
            Some(dtype) => Ok(dtype.bind(py).alignment()),
            None => Ok(1 << self.element.size().trailing_zeros()),
        }
    }

    /// The fields of a structure, as NumPy lists them.
    pub(crate) fn fields<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let described = self.described.as_ref().map(|dtype| dtype.bind(py));
        let structure = described.filter(|dtype| dtype.has_fields());
        structure.map(|dtype| dtype.getattr(intern!(py, "descr"))).transpose()
    }

    /// The field of that name; `None` if the elements are not structures.
    pub(crate) fn field(&self, name: &Bound<'_, PyString>) -> PyResult<Option<Field>> {
        let py = name.py();
        let described = self.described.as_ref().map(|dtype| dtype.bind(py));
        let Some(structure) = described.filter(|dtype| dtype.has_fields()) else {
            return Ok(None);
        };
        let fields = structure.getattr(intern!(py, "fields"))?;
        let Ok(field) = fields.get_item(name) else {
            return Err(PyValueError::new_err(format!("no field of name {name}")));
        };
        let offset = field.get_item(1)?.extract()?;
        let dtype = field.get_item(0)?.cast_into::<PyArrayDescr>()?;
        Ok(Some(Field {
            dtype: Self::of(&dtype.base())?,
            offset,
            shape: integers(&dtype.getattr(intern!(py, "shape"))?)?,
        }))
    }

    pub(crate) fn is_same(&self, other: &Self, py: Python<'_>) -> PyResult<bool> {
        match (&self.described, &other.described) {
            (None, None) => Ok(self.element == other.element),
            _ => Ok(self.to_numpy(py)?.is_equiv_to(&other.to_numpy(py)?)),
        }
    }

    pub(crate) fn clone_ref(&self, py: Python<'_>) -> Self {
        let described = self.described.as_ref().map(|dtype| dtype.clone_ref(py));
        Self { element: self.element, described }
    }
}
