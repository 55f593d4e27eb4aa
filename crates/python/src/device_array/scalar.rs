//! Operators of arrays without dimensions, such as an indexed element, which compute as their scalar.
//!
//! Each operation copies the element to the host and leaves the rest to NumPy.  Larger arrays have
//! no operators: a kernel or another library computes on the device.

use super::class::PyDeviceArray;
use super::host;
use crate::streams::argument::ChosenOrder;
use pyo3::basic::CompareOp;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PyTuple};

impl PyDeviceArray {
    /// NumPy's scalar, if there is a single element and no dimension.
    pub(super) fn scalar<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        if self.array.layout().ndim() > 0 {
            return Ok(None);
        }
        host::to_numpy(py, self, None, &ChosenOrder::NOW)?.get_item(PyTuple::empty(py)).map(Some)
    }

    /// The result of a binary operator, in the order of its operands.  Larger arrays leave it to the other operand,
    /// unless that has no operators with arrays either.
    fn binary<'py>(
        &self,
        (module, function): (&str, &str),
        other: &Bound<'py, PyAny>,
        is_reflected: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = other.py();
        let Some(scalar) = self.scalar(py)? else {
            // Not NumPy's, which have operators with arrays.
            let is_number =
                other.is_exact_instance_of::<PyFloat>() || other.is_instance_of::<PyInt>();
            if is_number || other.is_instance_of::<Self>() {
                return Err(only_scalars(function));
            }
            return Ok(py.NotImplemented().into_bound(py));
        };
        let operands = if is_reflected { (other, &scalar) } else { (&scalar, other) };
        py.import(module)?.call_method1(function, operands)
    }

    fn unary<'py>(&self, py: Python<'py>, function: &str) -> PyResult<Bound<'py, PyAny>> {
        match self.scalar(py)? {
            Some(scalar) => py.import("operator")?.call_method1(function, (scalar,)),
            None => Err(only_scalars(function)),
        }
    }

    /// The result of a function of `math`, for the scalar as a Python number.
    fn to_integer<'py>(&self, py: Python<'py>, function: &str) -> PyResult<Bound<'py, PyAny>> {
        match self.scalar(py)? {
            Some(_) => py.import("math")?.call_method1(function, (self.item_of(py)?,)),
            None => Err(only_scalars(function)),
        }
    }

    /// The only element, converted to a builtin class.
    fn converted<'py>(&self, py: Python<'py>, class: &str) -> PyResult<Bound<'py, PyAny>> {
        if self.array.layout().count() != 1 {
            return Err(PyTypeError::new_err(
                "only arrays of one element can be converted to Python scalars",
            ));
        }
        py.import("builtins")?.call_method1(class, (self.item_of(py)?,))
    }

    pub(super) fn item_of<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        host::to_numpy(py, self, None, &ChosenOrder::NOW)?.call_method0("item")
    }
}

fn only_scalars(operator: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "a device array has no operator '{operator}': cupy.asarray(array) has it on the \
         device, array.copy_to_host() on the host"
    ))
}

/// Binary operators and their reflections, by the functions that compute them.
macro_rules! binary_operators {
    ($($operator:ident, $reflected:ident: $module:literal $function:literal;)+) => {
        #[pymethods]
        impl PyDeviceArray {
            $(
                fn $operator<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                    self.binary(($module, $function), other, false)
                }

                fn $reflected<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                    self.binary(($module, $function), other, true)
                }
            )+
        }
    };
}

binary_operators! {
    __add__, __radd__: "operator" "add";
    __sub__, __rsub__: "operator" "sub";
    __mul__, __rmul__: "operator" "mul";
    __truediv__, __rtruediv__: "operator" "truediv";
    __floordiv__, __rfloordiv__: "operator" "floordiv";
    __matmul__, __rmatmul__: "operator" "matmul";
    __mod__, __rmod__: "operator" "mod";
    __divmod__, __rdivmod__: "builtins" "divmod";
    __lshift__, __rlshift__: "operator" "lshift";
    __rshift__, __rrshift__: "operator" "rshift";
    __and__, __rand__: "operator" "and_";
    __or__, __ror__: "operator" "or_";
    __xor__, __rxor__: "operator" "xor";
}

/// Operators and conversions of one operand, by the methods and functions that compute them.
macro_rules! unary_operators {
    ($($operator:ident: $method:ident $function:literal;)+) => {
        #[pymethods]
        impl PyDeviceArray {
            $(
                fn $operator<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                    self.$method(py, $function)
                }
            )+
        }
    };
}

unary_operators! {
    __neg__: unary "neg";
    __pos__: unary "pos";
    __abs__: unary "abs";
    __invert__: unary "invert";
    __index__: unary "index";
    __trunc__: to_integer "trunc";
    __floor__: to_integer "floor";
    __ceil__: to_integer "ceil";
    __int__: converted "int";
    __float__: converted "float";
    __complex__: converted "complex";
}

#[pymethods]
impl PyDeviceArray {
    fn __pow__<'py>(
        &self,
        other: &Bound<'py, PyAny>,
        modulo: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = other.py();
        match self.scalar(py)? {
            Some(scalar) => py.import("builtins")?.call_method1("pow", (scalar, other, modulo)),
            None => self.binary(("builtins", "pow"), other, false),
        }
    }

    fn __rpow__<'py>(
        &self,
        other: &Bound<'py, PyAny>,
        _modulo: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.binary(("operator", "pow"), other, true)
    }

    fn __richcmp__<'py>(
        &self,
        other: &Bound<'py, PyAny>,
        comparison: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        let is_equality = matches!(comparison, CompareOp::Eq | CompareOp::Ne);
        if is_equality && self.array.layout().ndim() > 0 && other.is_instance_of::<Self>() {
            return Ok(other.py().NotImplemented().into_bound(other.py())); // as they hash
        }
        let operator = match comparison {
            CompareOp::Lt => "lt",
            CompareOp::Le => "le",
            CompareOp::Eq => "eq",
            CompareOp::Ne => "ne",
            CompareOp::Gt => "gt",
            CompareOp::Ge => "ge",
        };
        self.binary(("operator", operator), other, false)
    }

    // Arrays hash by identity, as those of other libraries do: their elements may change.
    fn __hash__(slf: &Bound<'_, Self>) -> isize {
        slf.as_ptr() as isize >> 4
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

    /// Larger arrays are true if they are not empty, as Numba's, whose kernels ask `if not array`.
    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        match self.array.layout().shape().first() {
            None => self.item_of(py)?.is_truthy(),
            Some(length) => Ok(*length > 0),
        }
    }

    fn __format__<'py>(
        slf: &Bound<'py, Self>,
        spec: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        match slf.get().scalar(py)? {
            Some(scalar) => scalar.call_method1("__format__", (spec,)),
            None => py.get_type::<PyAny>().call_method1("__format__", (slf, spec)),
        }
    }
}
