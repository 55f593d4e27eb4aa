//! The class `DeviceArray`; its methods are in the other files of this folder.

use super::arrow_data::ArrowData;
use crate::errors::OrRaise;
use crate::exchange::dtype::DType;
use crate::tracing::Facts;
use arrow_cuda_context::Context;
use arrow_cuda_numba_bridge::{Order, StridedArray, StridedLayout};
use pyo3::exceptions::{PyNotImplementedError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
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
/// obj : CudaBuffer, pyarrow.Array, pyarrow.ChunkedArray or array
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
///     If the elements do not lie within the buffer, or if its bytes are no whole number of elements and
///     there is no `shape`.
///
/// Examples
/// --------
/// >>> buf = cuda.Context(0).buffer_from_data(np.arange(6, dtype=np.float32))
/// >>> array = DeviceArray(buf, np.float32, (2, 3))
/// >>> array[:, 1].copy_to_host()
/// array([1., 4.], dtype=float32)
#[pyclass(frozen, weakref, name = "DeviceArray", module = "pyarrow_cuda_compat")]
pub(crate) struct PyDeviceArray {
    pub(super) array: StridedArray,
    pub(super) dtype: DType,
    /// The elements' Arrow type and nulls, if the array came from Arrow.
    pub(super) arrow: Option<Arc<ArrowData>>,
    /// The array of the host to which `to_host` copies.
    pub(super) writeback: PyOnceLock<Py<PyAny>>,
}

impl PyDeviceArray {
    pub(crate) fn new(array: StridedArray, dtype: DType) -> Self {
        Self::with_arrow(array, dtype, None)
    }

    pub(super) fn with_arrow(
        array: StridedArray,
        dtype: DType,
        arrow: Option<Arc<ArrowData>>,
    ) -> Self {
        Self { array, dtype, arrow, writeback: PyOnceLock::new() }
    }

    /// The same array, as a view of its own.
    pub(super) fn view_of_all(&self, py: Python<'_>) -> Self {
        Self::with_arrow(self.array.clone(), self.dtype.clone_ref(py), self.arrow.clone())
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
        layout: StridedLayout,
    ) -> PyResult<Self> {
        let array = py.detach(|| StridedArray::allocate(context, layout)).or_raise(py)?;
        Ok(Self::new(array, dtype))
    }
}

pub(super) fn order_argument(order: &str) -> PyResult<Order> {
    match order {
        "C" | "c" => Ok(Order::C),
        "F" | "f" => Ok(Order::Fortran),
        _ => Err(PyValueError::new_err(format!("order must be 'C' or 'F', not '{order}'"))),
    }
}

/// The order that an argument names for an array: 'A' is Fortran's only if that is the array's own, and
/// 'K' the array's own.
pub(super) fn order_for(array: &StridedArray, order: &str) -> PyResult<Order> {
    match (order, array.order()) {
        ("A" | "a", own) => Ok(own.unwrap_or(Order::C)),
        ("K" | "k", Some(own)) => Ok(own),
        ("K" | "k", None) => Err(PyNotImplementedError::new_err(
            "the elements are in neither order, 'C' or 'F': name the one that you want",
        )),
        _ => order_argument(order),
    }
}
