//! The constructors of `DeviceArray`.

use super::class::{PyDeviceArray, order_argument};
use super::{host, import};
use crate::bounded_sequences::{integers, lengths};
use crate::contexts::argument::context_or_first;
use crate::errors::OrRaise;
use crate::exchange::dtype::DType;
use crate::pyarrow::from_pyarrow::{
    device_buffer, has_values, is_buffer, is_cuda_buffer, is_on_device,
};
use crate::pyarrow::to_pyarrow::wrap_memory_of;
use crate::tracing::{Area, traced};
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_numba_bridge::{ElementType, Order, StridedArray, StridedLayout};
use numpy::PyUntypedArrayMethods;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

#[pymethods]
impl PyDeviceArray {
    #[new]
    #[pyo3(signature = (obj, dtype=None, shape=None, strides=None, *, offset=0))]
    fn construct(
        obj: &Bound<'_, PyAny>,
        dtype: Option<&Bound<'_, PyAny>>,
        shape: Option<&Bound<'_, PyAny>>,
        strides: Option<&Bound<'_, PyAny>>,
        offset: usize,
    ) -> PyResult<Self> {
        let py = obj.py();
        if is_buffer(obj)? {
            let buffer = match is_cuda_buffer(obj)? {
                true => obj.clone(),
                false => wrap_memory_of(obj)?,
            };
            let Some(dtype) = dtype else {
                let text = "DeviceArray of a buffer needs a dtype, such as numpy.uint8";
                return Err(PyTypeError::new_err(text));
            };
            let dtype = DType::of(dtype)?;
            let shape = shape.map(lengths).transpose()?;
            let strides = strides.map(integers).transpose()?;
            let (buffer, element) = (device_buffer(&buffer)?, dtype.element());
            let shape = match shape {
                Some(shape) => shape,
                None => vec![whole_elements(buffer, offset, &dtype)? as i64],
            };
            let layout = match strides {
                None => StridedLayout::row_major(element, shape),
                Some(strides) => StridedLayout::strided(element, shape, strides),
            };
            let array = StridedArray::new(buffer, offset, layout.or_raise(py)?).or_raise(py)?;
            return Ok(Self::new(array, dtype));
        }
        if dtype.is_some() || shape.is_some() || strides.is_some() || offset != 0 {
            return Err(PyTypeError::new_err(format!(
                "{} has a dtype and a shape of its own: dtype, shape, strides and offset are for \
                 buffers only",
                obj.get_type().name()?
            )));
        }
        match import::device_array(obj)? {
            Some(array) => Ok(array.get().view_of_all(py)),
            None if is_on_device(obj)? => Err(PyTypeError::new_err(format!(
                "{} is on a device, and its columns are arrays of their own: DeviceArray.from_arrow \
                 views one of them, such as column(0)",
                obj.get_type().name()?
            ))),
            None => Err(PyTypeError::new_err(format!(
                "{} is in host memory: DeviceArray.{} copies it to a device",
                obj.get_type().name()?,
                if has_values(obj)? { "from_arrow" } else { "from_host" }
            ))),
        }
    }

    /// Allocate an array, uninitialised.
    ///
    /// Parameters
    /// ----------
    /// shape : int or sequence of int
    ///     The number of elements in each dimension.
    /// dtype : numpy.dtype, default numpy.float64
    ///     The type of the elements.
    /// order : {'C', 'F'}, default 'C'
    ///     Whether the last or the first dimension is the densest.
    /// context : Context, int or str, optional
    ///     Where to allocate; the first device's primary context if not given.
    ///
    /// Returns
    /// -------
    /// DeviceArray
    ///     In memory of its own, which other processes can import.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If a length is negative, or the size does not fit into 63 bits.
    /// OutOfMemoryError
    ///     If the device has no room.
    ///
    /// Examples
    /// --------
    /// >>> DeviceArray.empty((2, 3), "<i2", order="F").strides
    /// (2, 4)
    #[staticmethod]
    #[pyo3(signature = (shape, dtype=None, order="C", *, context=None))]
    fn empty(
        shape: &Bound<'_, PyAny>,
        dtype: Option<&Bound<'_, PyAny>>,
        order: &str,
        context: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let py = shape.py();
        let make = || {
            let dtype = match dtype {
                Some(dtype) => DType::of(dtype)?,
                None => DType::of_element(ElementType::float(8)),
            };
            let layout =
                StridedLayout::dense(dtype.element(), lengths(shape)?, order_argument(order)?);
            let context = context_or_first(py, context)?;
            Self::allocate(py, &context, dtype, layout.or_raise(py)?)
        };
        traced(py, Area::Allocation, "DeviceArray.empty", make, Self::facts)
    }

    /// Copy an array in host memory to a device.
    ///
    /// Parameters
    /// ----------
    /// array : array_like
    ///     Anything that ``numpy.asarray`` takes, with elements that a device array can have.
    /// context : Context, int or str, optional
    ///     Where to copy it to; the first device's primary context if not given.
    /// order : {'C', 'F'}, optional
    ///     Whether the last or the first dimension is the densest.  Without it as in `array`,
    ///     and C order where that has gaps.
    ///
    /// Returns
    /// -------
    /// DeviceArray
    ///     In memory of its own, which other processes can import.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If the elements are objects or strings, or `array` is an Arrow array on a device.
    /// ValueError
    ///     If `array` is an Arrow array with nulls, which NumPy does not know: `from_arrow` keeps them.
    /// OutOfMemoryError
    ///     If the device has no room.
    ///
    /// Examples
    /// --------
    /// >>> array = DeviceArray.from_host([[1, 2], [3, 4]])
    /// >>> array.shape, array.T.copy_to_host().tolist()
    /// ((2, 2), [[1, 3], [2, 4]])
    #[staticmethod]
    #[pyo3(signature = (array, *, context=None, order=None))]
    fn from_host(
        array: &Bound<'_, PyAny>,
        context: Option<&Bound<'_, PyAny>>,
        order: Option<&str>,
    ) -> PyResult<Self> {
        let py = array.py();
        let copy = || {
            let context = context_or_first(py, context)?;
            let order = order.map(order_argument).transpose()?;
            let host = host::as_numpy(py, array, None)?;
            let dtype = DType::of(host.dtype().as_any())?;
            let order = order.or_else(|| host::order_of(&host)).unwrap_or(Order::C);
            host::upload(py, &host, dtype, &context, order)
        };
        traced(py, Area::Transfer, "DeviceArray.from_host", copy, Self::facts)
    }
}

/// How many elements a buffer has from an offset on, in bytes.
fn whole_elements(buffer: &DeviceBuffer, offset: usize, dtype: &DType) -> PyResult<usize> {
    let (bytes, size) = (buffer.len().saturating_sub(offset), dtype.element().size() as usize);
    if !bytes.is_multiple_of(size) {
        return Err(PyValueError::new_err(format!(
            "{bytes} bytes are no whole number of elements of {size} bytes: pass the shape, or a slice of the buffer"
        )));
    }
    Ok(bytes / size)
}
