//! An array of no dimensions, such as an element that was indexed, computes as its scalar.
//!
//! Each operation copies the element to the host and leaves the rest to NumPy.  Larger arrays have
//! no operators: a kernel or another library computes on the device.

use super::class::PyDeviceArray;
use super::host;
use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

impl PyDeviceArray {
    /// The scalar of NumPy's, if there is a single element and no dimension.
    pub(super) fn scalar<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        if self.array.layout().ndim() > 0 {
            return Ok(None);
        }
        host::to_numpy(py, self, None, None)?.get_item(PyTuple::empty(py)).map(Some)
    }

    /// What `operator` makes of the scalar and another value.
    fn with<'py>(&self, operator: &str, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = other.py();
        match self.scalar(py)? {
            Some(scalar) => py.import("operator")?.call_method1(operator, (scalar, other)),
            None => Ok(py.NotImplemented().into_bound(py)),
        }
    }

    /// What `operator` makes of another value and the scalar.
    fn behind<'py>(
        &self,
        operator: &str,
        other: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = other.py();
        match self.scalar(py)? {
            Some(scalar) => py.import("operator")?.call_method1(operator, (other, scalar)),
            None => Ok(py.NotImplemented().into_bound(py)),
        }
    }

    /// What `function` makes of the scalar.
    fn alone<'py>(&self, py: Python<'py>, function: &str) -> PyResult<Bound<'py, PyAny>> {
        match self.scalar(py)? {
            Some(scalar) => py.import("operator")?.call_method1(function, (scalar,)),
            None => Err(only_scalars(function)),
        }
    }

    /// What a function of `math` makes of the Python number that the scalar is.
    fn to_integer<'py>(&self, py: Python<'py>, function: &str) -> PyResult<Bound<'py, PyAny>> {
        match self.scalar(py)? {
            Some(_) => py.import("math")?.call_method1(function, (self.item_of(py)?,)),
            None => Err(only_scalars(function)),
        }
    }

    /// The Python object of the class `class` that the only element converts to.
    fn converted<'py>(&self, py: Python<'py>, class: &str) -> PyResult<Bound<'py, PyAny>> {
        if self.array.layout().count() != 1 {
            return Err(PyTypeError::new_err(
                "only arrays of one element can be converted to Python scalars",
            ));
        }
        py.import("builtins")?.call_method1(class, (self.item_of(py)?,))
    }

    fn item_of<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        host::to_numpy(py, self, None, None)?.call_method0("item")
    }
}

fn only_scalars(operator: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "a device array has no operator '{operator}': use a kernel, cupy.asarray(array), or \
         array.copy_to_host()"
    ))
}

#[pymethods]
impl PyDeviceArray {
    fn __add__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.with("add", other)
    }

    fn __radd__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.behind("add", other)
    }

    fn __sub__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.with("sub", other)
    }

    fn __rsub__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.behind("sub", other)
    }

    fn __mul__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.with("mul", other)
    }

    fn __rmul__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.behind("mul", other)
    }

    fn __truediv__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.with("truediv", other)
    }

    fn __rtruediv__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.behind("truediv", other)
    }

    fn __floordiv__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.with("floordiv", other)
    }

    fn __rfloordiv__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.behind("floordiv", other)
    }

    fn __mod__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.with("mod", other)
    }

    fn __rmod__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.behind("mod", other)
    }

    fn __divmod__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = other.py();
        match self.scalar(py)? {
            Some(scalar) => py.import("builtins")?.call_method1("divmod", (scalar, other)),
            None => Ok(py.NotImplemented().into_bound(py)),
        }
    }

    fn __rdivmod__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = other.py();
        match self.scalar(py)? {
            Some(scalar) => py.import("builtins")?.call_method1("divmod", (other, scalar)),
            None => Ok(py.NotImplemented().into_bound(py)),
        }
    }

    fn __lshift__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.with("lshift", other)
    }

    fn __rlshift__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.behind("lshift", other)
    }

    fn __rshift__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.with("rshift", other)
    }

    fn __rrshift__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.behind("rshift", other)
    }

    fn __and__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.with("and_", other)
    }

    fn __rand__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.behind("and_", other)
    }

    fn __or__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.with("or_", other)
    }

    fn __ror__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.behind("or_", other)
    }

    fn __xor__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.with("xor", other)
    }

    fn __rxor__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.behind("xor", other)
    }

    fn __pow__<'py>(
        &self,
        other: &Bound<'py, PyAny>,
        modulo: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = other.py();
        match self.scalar(py)? {
            Some(scalar) => py.import("builtins")?.call_method1("pow", (scalar, other, modulo)),
            None => Ok(py.NotImplemented().into_bound(py)),
        }
    }

    fn __rpow__<'py>(
        &self,
        other: &Bound<'py, PyAny>,
        _modulo: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.behind("pow", other)
    }

    fn __richcmp__<'py>(
        &self,
        other: &Bound<'py, PyAny>,
        comparison: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        let operator = match comparison {
            CompareOp::Lt => "lt",
            CompareOp::Le => "le",
            CompareOp::Eq => "eq",
            CompareOp::Ne => "ne",
            CompareOp::Gt => "gt",
            CompareOp::Ge => "ge",
        };
        self.with(operator, other)
    }

    // Arrays are told apart by identity, as those of other libraries: their elements may change.
    fn __hash__(slf: &Bound<'_, Self>) -> isize {
        slf.as_ptr() as isize >> 4
    }

    fn __neg__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.alone(py, "neg")
    }

    fn __pos__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.alone(py, "pos")
    }

    fn __abs__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.alone(py, "abs")
    }

    fn __invert__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.alone(py, "invert")
    }

    #[pyo3(signature = (ndigits=None))]
    fn __round__<'py>(
        &self,
        py: Python<'py>,
        ndigits: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match self.scalar(py)? {
            Some(scalar) => py.import("builtins")?.call_method1("round", (scalar, ndigits)),
            None => Err(only_scalars("round")),
        }
    }

    fn __trunc__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.to_integer(py, "trunc")
    }

    fn __floor__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.to_integer(py, "floor")
    }

    fn __ceil__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.to_integer(py, "ceil")
    }

    fn __index__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.alone(py, "index")
    }

    fn __int__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.converted(py, "int")
    }

    fn __float__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.converted(py, "float")
    }

    fn __complex__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.converted(py, "complex")
    }

    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        match self.array.layout().count() {
            1 => self.item_of(py)?.is_truthy(),
            _ => Err(PyValueError::new_err(
                "the truth value of a device array whose size is not 1 is ambiguous",
            )),
        }
    }

    fn __format__<'py>(
        slf: &Bound<'py, Self>,
        spec: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        match slf.get().scalar(py)? {
            Some(scalar) => scalar.call_method1("__format__", (spec,)),
            None => Ok(slf.str()?.into_any()),
        }
    }
}
