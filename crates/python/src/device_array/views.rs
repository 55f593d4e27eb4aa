//! Views in other shapes, orders and types.

use super::class::{PyDeviceArray, order_for};
use crate::bounded_sequences::{integers, lengths};
use crate::errors::OrRaise;
use crate::exchange::dtype::DType;
use arrow_cuda_numba_bridge::{Error, Order, StridedLayout};
use pyo3::exceptions::{PyNotImplementedError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

#[pymethods]
impl PyDeviceArray {
    /// Whether the elements are contiguous in C order, the last dimension the densest.
    ///
    /// Returns
    /// -------
    /// bool
    ///
    /// Examples
    /// --------
    /// >>> array = DeviceArray.empty((2, 3))
    /// >>> array.is_c_contiguous(), array.T.is_c_contiguous()
    /// (True, False)
    fn is_c_contiguous(&self) -> bool {
        self.array.is_dense(Order::C)
    }

    /// Whether the elements are contiguous in Fortran order, the first dimension the densest.
    ///
    /// Returns
    /// -------
    /// bool
    ///
    /// Examples
    /// --------
    /// >>> array = DeviceArray.empty((2, 3))
    /// >>> array.is_f_contiguous(), array.T.is_f_contiguous()
    /// (False, True)
    fn is_f_contiguous(&self) -> bool {
        self.array.is_dense(Order::Fortran)
    }

    /// Whether the elements are contiguous in C and in Fortran order, by NumPy's names.
    ///
    /// Examples
    /// --------
    /// >>> DeviceArray.empty((2, 3)).flags
    /// {'C_CONTIGUOUS': True, 'F_CONTIGUOUS': False}
    #[getter]
    fn flags<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let flags = PyDict::new(py);
        flags.set_item("C_CONTIGUOUS", self.array.is_dense(Order::C))?;
        flags.set_item("F_CONTIGUOUS", self.array.is_dense(Order::Fortran))?;
        Ok(flags)
    }

    /// View the elements in another shape.
    ///
    /// Parameters
    /// ----------
    /// *shape : int or sequence of int
    ///     The lengths; one may be -1, which the others determine.
    /// order : {'C', 'F', 'A'}, default 'C'
    ///     The order in which the elements are counted, in both shapes; 'A' is 'F' for an array that
    ///     is contiguous in that order only.
    ///
    /// Returns
    /// -------
    /// DeviceArray
    ///     The same memory.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the shape has another number of elements.
    /// NotImplementedError
    ///     If only a copy can have that shape; ``array.copy().reshape(...)`` makes one.
    ///
    /// Examples
    /// --------
    /// >>> DeviceArray.empty(6).reshape(2, -1).shape
    /// (2, 3)
    #[pyo3(signature = (*shape, order="C"))]
    fn reshape(&self, py: Python<'_>, shape: &Bound<'_, PyTuple>, order: &str) -> PyResult<Self> {
        if order.eq_ignore_ascii_case("K") {
            return Err(PyValueError::new_err("order 'K' is not permitted for reshaping"));
        }
        let (shape, order) = (one_or_several(shape)?, order_for(&self.array, order)?);
        self.viewed(py, |layout| layout.reshape(&shape, order))
    }

    /// View the elements in one dimension.
    ///
    /// Parameters
    /// ----------
    /// order : {'C', 'F', 'A', 'K'}, default 'C'
    ///     The order in which they are counted; 'A' is 'F' for an array that is contiguous in that order
    ///     only, and 'K' the order of an array that is contiguous.
    /// stream : Stream, optional
    ///     Accepted because Numba's arrays take it; a view needs no stream.
    ///
    /// Returns
    /// -------
    /// DeviceArray
    ///     The same memory.
    ///
    /// Raises
    /// ------
    /// NotImplementedError
    ///     If the elements are not at equal distances in that order; ``array.copy().ravel()``
    ///     copies them.  If `order` is 'K' and the array is contiguous in neither order.
    ///
    /// Examples
    /// --------
    /// >>> DeviceArray.empty((2, 3)).ravel().shape
    /// (6,)
    #[pyo3(signature = (order="C", stream=None))]
    fn ravel(
        &self,
        py: Python<'_>,
        order: &str,
        #[expect(unused_variables, reason = "a view needs no stream")] stream: Option<
            &Bound<'_, PyAny>,
        >,
    ) -> PyResult<Self> {
        let order = order_for(&self.array, order)?;
        self.viewed(py, |layout| layout.ravel(order))
    }

    /// The array with its dimensions in reverse order.
    ///
    /// Returns
    /// -------
    /// DeviceArray
    ///     A view of the same memory.
    ///
    /// Examples
    /// --------
    /// >>> DeviceArray.empty((2, 3)).T.shape
    /// (3, 2)
    #[getter(T)]
    fn transposed(&self, py: Python<'_>) -> PyResult<Self> {
        self.viewed(py, |layout| Ok(layout.clone().reversed()))
    }

    /// View the array with its dimensions in another order.
    ///
    /// Parameters
    /// ----------
    /// *order : int or sequence of int
    ///     Each dimension once; without any, they are reversed.
    /// axes : sequence of int, optional
    ///     Another name of `order`, which Numba uses.
    ///
    /// Returns
    /// -------
    /// DeviceArray
    ///     The same memory.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If a dimension is missing or repeated.
    /// numpy.exceptions.AxisError
    ///     If there is no such dimension.
    ///
    /// Examples
    /// --------
    /// >>> DeviceArray.empty((2, 3, 4)).transpose(1, 0, 2).shape
    /// (3, 2, 4)
    #[pyo3(signature = (*order, axes=None))]
    fn transpose(
        &self,
        py: Python<'_>,
        order: &Bound<'_, PyTuple>,
        axes: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let axes = match (order.len(), axes) {
            (0, None) => return self.transposed(py),
            (0, Some(axes)) => lengths(axes)?,
            (_, Some(_)) => {
                let text = "transpose() takes the dimensions by position or as axes, not both";
                return Err(PyTypeError::new_err(text));
            }
            (1, None) if order.get_item(0)?.is_none() => return self.transposed(py),
            (_, None) => one_or_several(order)?,
        };
        self.viewed(py, |layout| layout.transpose(&axes))
    }

    /// View the array without its dimensions of length 1.
    ///
    /// Parameters
    /// ----------
    /// axis : int or sequence of int, optional
    ///     The dimensions to leave out; by default all of length 1.
    /// stream : Stream, optional
    ///     Accepted because Numba's arrays take it; a view needs no stream.
    ///
    /// Returns
    /// -------
    /// DeviceArray
    ///     The same memory.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If one of them has another length, or is named twice.
    /// numpy.exceptions.AxisError
    ///     If there is no such dimension.
    ///
    /// Examples
    /// --------
    /// >>> DeviceArray.empty((1, 3, 1)).squeeze().shape
    /// (3,)
    #[pyo3(signature = (axis=None, stream=None))]
    fn squeeze(
        &self,
        py: Python<'_>,
        axis: Option<&Bound<'_, PyAny>>,
        #[expect(unused_variables, reason = "a view needs no stream")] stream: Option<
            &Bound<'_, PyAny>,
        >,
    ) -> PyResult<Self> {
        // NumPy accepts the first axis also for an array without dimensions.
        let is_first = |axis: &&Bound<'_, PyAny>| matches!(axis.extract(), Ok(-1 | 0));
        let axis = axis.filter(|axis| self.array.layout().ndim() > 0 || !is_first(axis));
        let axes = axis.map(lengths).transpose()?;
        self.viewed(py, |layout| layout.squeeze(axes.as_deref()))
    }

    /// View the bytes as elements of another type.
    ///
    /// Parameters
    /// ----------
    /// dtype : numpy.dtype
    ///     The type.  If its size differs, the last dimension becomes longer or
    ///     shorter, and has to be contiguous.
    ///
    /// Returns
    /// -------
    /// DeviceArray
    ///     The same memory.  It has an `arrow_type` only if `dtype` is the array's own.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the bytes cannot be divided into such elements.
    ///
    /// Examples
    /// --------
    /// >>> DeviceArray.empty((2, 3), "<f4").view("|u1").shape
    /// (2, 12)
    fn view(&self, py: Python<'_>, dtype: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.check_no_nulls(py)?;
        let dtype = DType::of(dtype)?;
        if dtype.is_same(&self.dtype, py)? {
            return self.viewed(py, |layout| Ok(layout.clone()));
        }
        let array = self.array.with_layout(|layout| layout.with_element(dtype.element()));
        Ok(Self::new(array.or_raise(py)?, dtype))
    }

    /// Refused: this package moves and describes elements, and does not compute them.
    ///
    /// Raises
    /// ------
    /// NotImplementedError
    ///     Always; the text names the ways to convert elements.
    ///
    /// Examples
    /// --------
    /// >>> array = DeviceArray.from_host([1.5, 2.5])
    /// >>> array.copy_to_host().astype("i4")
    /// array([1, 2], dtype=int32)
    #[pyo3(signature = (*_args, **_kwargs))]
    fn astype(
        &self,
        _args: &Bound<'_, PyTuple>,
        _kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        Err(PyNotImplementedError::new_err(
            "a device array does not convert its elements, which takes a kernel: use \
             cupy.asarray(array).astype(dtype), or array.copy_to_host().astype(dtype) on the host; \
             view(dtype) interprets the same bytes as another type",
        ))
    }
}

impl PyDeviceArray {
    fn viewed(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&StridedLayout) -> Result<StridedLayout, Error>,
    ) -> PyResult<Self> {
        let array = self.array.with_layout(change).or_raise(py)?;
        let arrow = self.arrow_of_view(py, &array)?;
        Ok(Self::with_arrow(array, self.dtype.clone_ref(py), arrow))
    }
}

/// Numbers that are arguments of their own, or one argument that has them.
fn one_or_several(arguments: &Bound<'_, PyTuple>) -> PyResult<Vec<i64>> {
    match arguments.len() {
        1 => lengths(&arguments.get_item(0)?),
        _ => integers(arguments),
    }
}
