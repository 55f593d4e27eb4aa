//! `DeviceArray`: its constructors, and what it says of itself.

use super::arrow::ArrowData;
use super::{host, import};
use crate::errors::{OrRaise, available};
use crate::exchange::dtype::DType;
use crate::interpreter::call_out;
use crate::memory::argument::context_or_first;
use crate::memory::context::PyContext;
use crate::package::package;
use crate::pyarrow::from_pyarrow::{device_buffer, is_array, is_buffer, is_cuda_buffer};
use crate::pyarrow::to_pyarrow::{wrap_buffer, wrap_memory_of};
use crate::sequences::{integers, lengths};
use crate::tracing::{Area, Facts, traced};
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::Context;
use arrow_cuda_numba_bridge::{DeviceArray, ElementType, Layout, Order};
use numpy::PyUntypedArrayMethods;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use std::sync::Arc;

/// An n-dimensional array in device memory, with NumPy's dtypes, shapes and strides.
///
/// It shares its memory with the buffer or the other array that it is made of, and with its own
/// slices and views, and retains it.  Numba kernels take it as an argument, and
/// CuPy, PyTorch, JAX and others view it through DLPack or the CUDA array interface.  It does not
/// compute: that is for kernels and for those libraries.
///
/// Indexing and slicing return views, as NumPy's do.  Indexing a single element returns a view of
/// no dimensions, which computes and compares as the NumPy scalar that it contains.  The name of a
/// field of structures is an index, too.
///
/// Parameters
/// ----------
/// obj : CudaBuffer, pyarrow.Array or array
///     A buffer; an Arrow array on a device, as for `from_arrow`; or a device array of any
///     library that supports DLPack or the CUDA array interface.
/// dtype : numpy.dtype
///     The type of the elements, of a buffer: anything that ``numpy.dtype`` takes,
///     except objects and strings.
/// shape : int or sequence of int, optional
///     The number of elements in each dimension.  Without it, one dimension with as many
///     elements as fit into the buffer.
/// strides : sequence of int, optional
///     The distance between neighbours in each dimension, in bytes.  Without it, the
///     elements are contiguous in C order.
/// offset : int, default 0
///     Where in the buffer the first element begins, in bytes.
///
/// Raises
/// ------
/// TypeError
///     If `obj` is in host memory (`from_host` and `from_arrow` copy it), or `dtype` cannot be
///     that of a device array.
/// ValueError
///     If the elements do not lie within the buffer.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> from pyarrow import cuda
/// >>> from pyarrow_cuda_compat import DeviceArray
/// >>> buf = cuda.Context(0).buffer_from_data(np.arange(6, dtype=np.float32))
/// >>> array = DeviceArray(buf, np.float32, (2, 3))
/// >>> array[:, 1].copy_to_host()
/// array([1., 4.], dtype=float32)
#[pyclass(frozen, weakref, name = "DeviceArray", module = "pyarrow_cuda_compat")]
pub(crate) struct PyDeviceArray {
    pub(super) array: DeviceArray,
    pub(super) dtype: DType,
    /// What Arrow says of the elements, of an array that came from there.
    pub(super) arrow: Option<Arc<ArrowData>>,
}

impl PyDeviceArray {
    pub(crate) fn new(array: DeviceArray, dtype: DType) -> Self {
        Self { array, dtype, arrow: None }
    }

    /// The same array, as a view of its own.
    fn view_of_all(&self, py: Python<'_>) -> Self {
        Self {
            array: self.array.clone(),
            dtype: self.dtype.clone_ref(py),
            arrow: self.arrow.clone(),
        }
    }

    /// An array over a buffer.
    fn over(
        py: Python<'_>,
        buffer: &DeviceBuffer,
        dtype: DType,
        shape: Option<Vec<i64>>,
        strides: Option<Vec<i64>>,
        offset: u64,
    ) -> PyResult<Self> {
        let element = dtype.element();
        let shape = shape.unwrap_or_else(|| {
            let count = buffer.size().saturating_sub(offset) / u64::from(element.size());
            vec![count.cast_signed()]
        });
        let layout = match strides {
            None => Layout::row_major(element, shape),
            Some(strides) => Layout::strided(element, shape, strides),
        };
        let array = DeviceArray::new(buffer, offset, layout.or_raise(py)?).or_raise(py)?;
        Ok(Self::new(array, dtype))
    }

    fn new_empty(
        shape: &Bound<'_, PyAny>,
        dtype: Option<&Bound<'_, PyAny>>,
        order: &str,
        context: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let py = shape.py();
        let dtype = match dtype {
            Some(dtype) => DType::of(dtype)?,
            None => DType::of_element(ElementType::float(8)),
        };
        let layout = Layout::dense(dtype.element(), lengths(shape)?, order_argument(order)?);
        let context = context_or_first(py, context)?;
        Self::allocate(py, &context, dtype, layout.or_raise(py)?)
    }

    fn copy_of(
        array: &Bound<'_, PyAny>,
        context: Option<&Bound<'_, PyAny>>,
        order: Option<&str>,
    ) -> PyResult<Self> {
        let py = array.py();
        let context = context_or_first(py, context)?;
        let order = order.map(order_argument).transpose()?;
        let host = host::as_numpy(py, array, None)?;
        let dtype = DType::of(host.dtype().as_any())?;
        let order = order.or_else(|| host::order_of(&host)).unwrap_or(Order::C);
        host::upload(py, &host, dtype, &context, order)
    }

    /// For the records of calls that move the elements.
    pub(super) fn facts(&self) -> Facts {
        let device = self.array.buffer().context().device();
        Facts::new(self.array.layout().size(), device.number())
    }

    /// A new array, uninitialised.
    pub(super) fn allocate(
        py: Python<'_>,
        context: &Context,
        dtype: DType,
        layout: Layout,
    ) -> PyResult<Self> {
        let array = py.detach(|| DeviceArray::allocate(context, layout));
        Ok(Self::new(array.or_raise_explained(py, available(py, context))?, dtype))
    }
}

#[pymethods]
impl PyDeviceArray {
    #[new]
    #[pyo3(signature = (obj, dtype=None, shape=None, strides=None, *, offset=0))]
    fn construct(
        obj: &Bound<'_, PyAny>,
        dtype: Option<&Bound<'_, PyAny>>,
        shape: Option<&Bound<'_, PyAny>>,
        strides: Option<&Bound<'_, PyAny>>,
        offset: u64,
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
            return Self::over(py, device_buffer(&buffer)?, dtype, shape, strides, offset);
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
            None => Err(PyTypeError::new_err(format!(
                "{} is in host memory: DeviceArray.{} copies it to a device",
                obj.get_type().name()?,
                if is_array(obj)? { "from_arrow" } else { "from_host" }
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
    /// context : Context or int, optional
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
    /// >>> from pyarrow_cuda_compat import DeviceArray
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
        let make = || Self::new_empty(shape, dtype, order, context);
        traced(py, Area::Allocation, "DeviceArray.empty", make, Self::facts)
    }

    /// Copy an array in host memory to a device.
    ///
    /// Parameters
    /// ----------
    /// array : array_like
    ///     Anything that ``numpy.asarray`` takes, with elements that a device array can have.
    /// context : Context or int, optional
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
    /// >>> from pyarrow_cuda_compat import DeviceArray
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
        let copy = || Self::copy_of(array, context, order);
        traced(array.py(), Area::Transfer, "DeviceArray.from_host", copy, Self::facts)
    }

    /// View the values of an Arrow array on a device as an array.
    ///
    /// Parameters
    /// ----------
    /// array : pyarrow.Array
    ///     An array on a device.  An array in host memory is copied to the first device.
    ///
    ///     Dates, times, durations and decimals of 32 and 64 bits are the integers that Arrow stores,
    ///     wider decimals and intervals structures of integers, booleans the bytes of
    ///     their bitmap.  Each level of fixed-size lists adds a dimension, and arrays
    ///     of `pyarrow.fixed_shape_tensor` add those of the tensor, in memory order.  Other
    ///     extension arrays are treated as their storage.
    ///
    /// Returns
    /// -------
    /// DeviceArray
    ///     The same memory, which it retains; read-only where Arrow's is.  `arrow_type` and
    ///     `validity` keep what Arrow knows of it, so that `to_arrow` returns an equal array.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `array` is not an Arrow array, or its values are not of a fixed size.
    ///
    /// Examples
    /// --------
    /// >>> import pyarrow as pa
    /// >>> from pyarrow import cuda
    /// >>> from pyarrow_cuda_compat import DeviceArray
    /// >>> days = pa.array([0, 365], pa.date32()).copy_to(cuda.Context(0).memory_manager)
    /// >>> array = DeviceArray.from_arrow(days)
    /// >>> array.dtype, array.copy_to_host()
    /// (dtype('int32'), array([  0, 365], dtype=int32))
    /// >>> array.to_arrow().type
    /// DataType(date32[day])
    #[staticmethod]
    fn from_arrow<'py>(array: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        call_out(package(array.py())?.array_from_arrow.bind(array.py()), (array,))
    }

    /// The type of the elements.
    ///
    /// Returns
    /// -------
    /// numpy.dtype
    ///
    /// Examples
    /// --------
    /// >>> from pyarrow_cuda_compat import DeviceArray
    /// >>> DeviceArray.empty(3).dtype
    /// dtype('float64')
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.dtype.to_numpy(py)?.into_any())
    }

    /// The number of elements in each dimension.
    ///
    /// Returns
    /// -------
    /// tuple of int
    ///
    /// Examples
    /// --------
    /// >>> from pyarrow_cuda_compat import DeviceArray
    /// >>> DeviceArray.empty((2, 3)).shape
    /// (2, 3)
    #[getter]
    pub(super) fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.array.layout().shape())
    }

    /// The distance between neighbours in each dimension, in bytes.
    ///
    /// Returns
    /// -------
    /// tuple of int
    ///
    /// Examples
    /// --------
    /// >>> from pyarrow_cuda_compat import DeviceArray
    /// >>> DeviceArray.empty((2, 3))[:, ::-1].strides
    /// (24, -8)
    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.array.layout().strides())
    }

    /// The number of dimensions.
    ///
    /// Returns
    /// -------
    /// int
    ///
    /// Examples
    /// --------
    /// >>> from pyarrow_cuda_compat import DeviceArray
    /// >>> DeviceArray.empty((2, 3)).ndim
    /// 2
    #[getter]
    fn ndim(&self) -> usize {
        self.array.layout().ndim()
    }

    /// The number of elements.
    ///
    /// Returns
    /// -------
    /// int
    ///
    /// Examples
    /// --------
    /// >>> from pyarrow_cuda_compat import DeviceArray
    /// >>> DeviceArray.empty((2, 3)).size
    /// 6
    #[getter]
    fn size(&self) -> i64 {
        self.array.layout().count()
    }

    /// The size of an element, in bytes.
    ///
    /// Returns
    /// -------
    /// int
    ///
    /// Examples
    /// --------
    /// >>> from pyarrow_cuda_compat import DeviceArray
    /// >>> DeviceArray.empty(3, "<c8").itemsize
    /// 8
    #[getter]
    fn itemsize(&self) -> u32 {
        self.array.element().size()
    }

    /// The size of all elements together, in bytes.
    ///
    /// Returns
    /// -------
    /// int
    ///     Without the gaps between them, if there are any.
    ///
    /// Examples
    /// --------
    /// >>> from pyarrow_cuda_compat import DeviceArray
    /// >>> DeviceArray.empty((2, 3))[:, ::2].nbytes
    /// 32
    #[getter]
    fn nbytes(&self) -> u64 {
        self.array.layout().size()
    }

    /// The device address of the first element.
    ///
    /// Returns
    /// -------
    /// int
    ///     0 for an allocation of no bytes.
    ///
    /// Examples
    /// --------
    /// >>> from pyarrow_cuda_compat import DeviceArray
    /// >>> array = DeviceArray.empty(3)
    /// >>> array[1:].address - array.address
    /// 8
    #[getter]
    fn address(&self) -> u64 {
        self.array.address()
    }

    /// The device address of the first element: `address`, by the name that PyCUDA and others use.
    ///
    /// Returns
    /// -------
    /// int
    ///     A C function takes it as a device pointer: ``ctypes.c_void_p(array.ptr)``.
    ///
    /// Examples
    /// --------
    /// >>> from pyarrow_cuda_compat import DeviceArray
    /// >>> array = DeviceArray.empty(3)
    /// >>> array.ptr == array.address
    /// True
    #[getter]
    fn ptr(&self) -> u64 {
        self.array.address()
    }

    /// The memory that the elements span.
    ///
    /// Returns
    /// -------
    /// CudaBuffer
    ///     From the first byte of any element to the last one, gaps included.  It retains the
    ///     memory as the array does.
    ///
    /// Examples
    /// --------
    /// >>> from pyarrow_cuda_compat import DeviceArray
    /// >>> DeviceArray.empty((2, 3))[:, 1].buffer.size
    /// 32
    #[getter]
    fn buffer<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        wrap_buffer(py, self.array.buffer().clone())
    }

    /// The context of the memory.
    ///
    /// Returns
    /// -------
    /// Context
    ///
    /// Examples
    /// --------
    /// >>> from pyarrow_cuda_compat import DeviceArray
    /// >>> DeviceArray.empty(3).context.device_number
    /// 0
    #[getter]
    fn context(&self) -> PyContext {
        PyContext::new(self.array.buffer().context().clone())
    }

    /// Whether the elements may be changed through this array.
    ///
    /// Returns
    /// -------
    /// bool
    ///
    /// Examples
    /// --------
    /// >>> from pyarrow_cuda_compat import DeviceArray
    /// >>> DeviceArray.empty(3).is_mutable
    /// True
    #[getter]
    fn is_mutable(&self) -> bool {
        self.array.buffer().is_mutable()
    }

    /// What Arrow calls the elements.
    ///
    /// Returns
    /// -------
    /// pyarrow.DataType or None
    ///     None for an array that does not come from Arrow.
    ///
    /// Examples
    /// --------
    /// >>> import pyarrow as pa
    /// >>> from pyarrow_cuda_compat import DeviceArray
    /// >>> DeviceArray.from_arrow(pa.array([1], pa.timestamp("s"))).arrow_type
    /// TimestampType(timestamp[s])
    #[getter]
    fn arrow_type(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.arrow.as_ref().map(|arrow| arrow.kind().clone_ref(py))
    }

    /// The validity bitmap of an array from Arrow.
    ///
    /// Returns
    /// -------
    /// DeviceArray or None
    ///     The bytes of the bitmap, whose `bit_offset` says where in the first byte the bit of
    ///     the first element is; a bit of 0 marks a null.  None where no element can be null.
    ///
    /// Examples
    /// --------
    /// >>> import pyarrow as pa
    /// >>> from pyarrow_cuda_compat import DeviceArray
    /// >>> array = DeviceArray.from_arrow(pa.array([7, None, 9]))
    /// >>> array.validity.to_arrow().copy_to(pa.default_cpu_memory_manager()).to_pylist()
    /// [True, False, True]
    #[getter]
    fn validity(&self, py: Python<'_>) -> PyResult<Option<Self>> {
        let validity = self.arrow.as_ref().and_then(|arrow| arrow.validity());
        validity.map(|bits| bits.to_array(py)).transpose()
    }

    /// How many elements are null.
    ///
    /// The bitmap is copied to the host to count them, once.
    ///
    /// Returns
    /// -------
    /// int
    ///     0 for arrays that do not come from Arrow.
    ///
    /// Examples
    /// --------
    /// >>> import pyarrow as pa
    /// >>> from pyarrow_cuda_compat import DeviceArray
    /// >>> DeviceArray.from_arrow(pa.array([7, None, 9])).null_count
    /// 1
    #[getter]
    fn null_count(&self, py: Python<'_>) -> PyResult<u64> {
        self.arrow.as_ref().map_or(Ok(0), |arrow| arrow.null_count(py))
    }

    /// The elements without their validity bitmap.
    ///
    /// The value of a null is undefined.  For arrays without nulls, you do not need this property.
    ///
    /// Returns
    /// -------
    /// DeviceArray
    ///     The same memory.
    ///
    /// Examples
    /// --------
    /// >>> import pyarrow as pa
    /// >>> from pyarrow_cuda_compat import DeviceArray
    /// >>> array = DeviceArray.from_arrow(pa.array([7, None, 9], pa.int8()))
    /// >>> array.values.copy_to_host()[::2]
    /// array([7, 9], dtype=int8)
    #[getter]
    fn values(&self, py: Python<'_>) -> Self {
        Self::new(self.array.clone(), self.dtype.clone_ref(py))
    }

    /// Where in the first byte of a bitmap the first bit is, the lowest bit being 0.
    ///
    /// Returns
    /// -------
    /// int
    ///     From 0 to 7; 0 for arrays that are not bitmaps.
    ///
    /// Examples
    /// --------
    /// >>> import pyarrow as pa
    /// >>> from pyarrow_cuda_compat import DeviceArray
    /// >>> DeviceArray.from_arrow(pa.array([True] * 9)[3:]).bit_offset
    /// 3
    #[getter]
    fn bit_offset(&self) -> u64 {
        self.arrow.as_ref().and_then(|arrow| arrow.bit_range()).map_or(0, |(first, _)| first)
    }

    /// How many bits a bitmap has.
    ///
    /// Returns
    /// -------
    /// int or None
    ///     None for arrays that are not bitmaps.
    ///
    /// Examples
    /// --------
    /// >>> import pyarrow as pa
    /// >>> from pyarrow_cuda_compat import DeviceArray
    /// >>> array = DeviceArray.from_arrow(pa.array([True] * 9))
    /// >>> array.bit_length, array.shape
    /// (9, (2,))
    #[getter]
    fn bit_length(&self) -> Option<u64> {
        self.arrow.as_ref().and_then(|arrow| arrow.bit_range()).map(|(_, count)| count)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let mut text = format!(
            "<pyarrow_cuda_compat.DeviceArray address={:#x} dtype={} shape={}",
            self.array.address(),
            self.dtype.to_numpy(py)?,
            self.shape(py)?
        );
        if !self.array.layout().is_row_major() {
            text += &format!(" strides={}", self.strides(py)?);
        }
        if let Some(arrow) = &self.arrow {
            text += &format!(" arrow_type={}", arrow.kind().bind(py).str()?);
        }
        if !self.is_mutable() {
            text += " read-only";
        }
        Ok(text + ">")
    }

    /// An element as its scalar; what is larger as its description.
    fn __str__(slf: &Bound<'_, Self>) -> PyResult<Py<PyString>> {
        let text = match slf.get().scalar(slf.py())? {
            Some(scalar) => scalar.str()?,
            None => slf.repr()?,
        };
        Ok(text.unbind())
    }
}

/// The order that an argument names.
pub(super) fn order_argument(order: &str) -> PyResult<Order> {
    match order {
        "C" | "c" => Ok(Order::C),
        "F" | "f" => Ok(Order::Fortran),
        _ => Err(PyValueError::new_err(format!("order must be 'C' or 'F', not '{order}'"))),
    }
}
