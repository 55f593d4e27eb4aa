//! The attributes of `DeviceArray`.

use super::class::PyDeviceArray;
use crate::contexts::context::PyContext;
use crate::pyarrow::to_pyarrow::wrap_buffer;
use arrow_cuda_context::Ready;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

#[pymethods]
impl PyDeviceArray {
    /// The type of the elements.
    ///
    /// Examples
    /// --------
    /// >>> DeviceArray.empty(3).dtype
    /// dtype('float64')
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.dtype.to_numpy(py)?.into_any())
    }

    /// The number of elements in each dimension.
    ///
    /// Examples
    /// --------
    /// >>> DeviceArray.empty((2, 3)).shape
    /// (2, 3)
    #[getter]
    pub(super) fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.array.layout().shape())
    }

    /// The distance between neighbours in each dimension, in bytes.
    ///
    /// Examples
    /// --------
    /// >>> DeviceArray.empty((2, 3))[:, ::-1].strides
    /// (24, -8)
    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.array.layout().strides())
    }

    /// The number of dimensions.
    ///
    /// Examples
    /// --------
    /// >>> DeviceArray.empty((2, 3)).ndim
    /// 2
    #[getter]
    fn ndim(&self) -> usize {
        self.array.layout().ndim()
    }

    /// The number of elements.
    ///
    /// Examples
    /// --------
    /// >>> DeviceArray.empty((2, 3)).size
    /// 6
    #[getter]
    fn size(&self) -> i64 {
        self.array.layout().count()
    }

    /// The size of an element, in bytes.
    ///
    /// Examples
    /// --------
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
    /// >>> DeviceArray.empty((2, 3))[:, ::2].nbytes
    /// 32
    #[getter]
    fn nbytes(&self) -> usize {
        self.array.layout().size()
    }

    /// The device address of the first element.
    ///
    /// You order the work that uses it: the address alone waits for nothing.
    ///
    /// Returns
    /// -------
    /// int
    ///     0 for an allocation of no bytes.
    ///
    /// Examples
    /// --------
    /// >>> array = DeviceArray.empty(3)
    /// >>> array[1:].address - array.address
    /// 8
    #[getter]
    fn address(&self) -> u64 {
        self.array.address(&Ready::by_caller())
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
    /// >>> array = DeviceArray.empty(3)
    /// >>> array.ptr == array.address
    /// True
    #[getter]
    fn ptr(&self) -> u64 {
        self.address()
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
    /// >>> DeviceArray.empty((2, 3))[:, 1].buffer.size
    /// 32
    #[getter]
    fn buffer<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        wrap_buffer(py, self.array.buffer().clone())
    }

    /// The context of the memory.
    ///
    /// Examples
    /// --------
    /// >>> DeviceArray.empty(3).context.device_number
    /// 0
    #[getter]
    fn context(&self) -> PyContext {
        PyContext::new(self.array.buffer().context().clone())
    }

    /// Whether the elements may be changed through this array.
    ///
    /// Examples
    /// --------
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
    /// >>> DeviceArray.from_arrow(pa.array([1], pa.timestamp("s"))).arrow_type
    /// TimestampType(timestamp[s])
    #[getter]
    fn arrow_type(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.arrow.as_ref().map(|arrow| arrow.kind.clone_ref(py))
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
    /// >>> array = DeviceArray.from_arrow(pa.array([7, None, 9]))
    /// >>> array.validity.to_arrow().copy_to("cpu").to_pylist()
    /// [True, False, True]
    #[getter]
    fn validity(&self, py: Python<'_>) -> PyResult<Option<Self>> {
        let validity = self.arrow.as_ref().and_then(|arrow| arrow.validity.as_ref());
        validity.map(|bits| Self::of_bits(py, bits)).transpose()
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
    /// >>> DeviceArray.from_arrow(pa.array([7, None, 9])).null_count
    /// 1
    #[getter]
    fn null_count(&self, py: Python<'_>) -> PyResult<usize> {
        self.arrow.as_ref().map_or(Ok(0), |arrow| arrow.null_count(py))
    }

    /// The elements without their validity bitmap.
    ///
    /// The value of a null is undefined.  For arrays without nulls, you do not need this property.
    ///
    /// Returns
    /// -------
    /// DeviceArray
    ///     The same memory, with the same `arrow_type`.
    ///
    /// Examples
    /// --------
    /// >>> array = DeviceArray.from_arrow(pa.array([7, None, 9], pa.int8()))
    /// >>> array.values.copy_to_host()[::2]
    /// array([7, 9], dtype=int8)
    #[getter]
    fn values(&self, py: Python<'_>) -> Self {
        let arrow = self.arrow.as_ref().map(|arrow| arrow.without_nulls(py));
        Self::with_arrow(self.array.clone(), self.dtype.clone_ref(py), arrow)
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
    /// >>> DeviceArray.from_arrow(pa.array([True] * 9)[3:]).bit_offset
    /// 3
    #[getter]
    fn bit_offset(&self) -> usize {
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
    /// >>> array = DeviceArray.from_arrow(pa.array([True] * 9))
    /// >>> array.bit_length, array.shape
    /// (9, (2,))
    #[getter]
    fn bit_length(&self) -> Option<usize> {
        self.arrow.as_ref().and_then(|arrow| arrow.bit_range()).map(|(_, count)| count)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let mut text = format!(
            "<pyarrow_cuda_compat.DeviceArray address={:#x} device={} dtype={} shape={}",
            self.address(),
            self.array.buffer().context().device().number(),
            self.dtype.to_numpy(py)?,
            self.shape(py)?
        );
        if !self.array.layout().is_row_major() {
            text += &format!(" strides={}", self.strides(py)?);
        }
        if let Some(arrow) = &self.arrow {
            text += &format!(" arrow_type={}", arrow.kind.bind(py).str()?);
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
