//! Copies between a device array and others, on the host and on devices.

use super::class::{PyDeviceArray, order_for};
use super::host::{self, order_of_copy};
use crate::errors::OrRaise;
use crate::exchange::asarray::{check_copied, converted};
use crate::streams::argument::ChosenOrder;
use crate::tracing::{Area, traced};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// Has `to_host` copy the elements of an array to `host`.
#[pyfunction(name = "_set_writeback")]
pub(super) fn set_writeback(py: Python<'_>, array: &PyDeviceArray, host: Py<PyAny>) {
    array.writeback.get_or_init(py, || host);
}

#[pymethods]
impl PyDeviceArray {
    /// Copy the elements to the host.
    ///
    /// Parameters
    /// ----------
    /// out : numpy.ndarray, optional
    ///     An array of the same shape and dtype to copy them into; by default a new one.
    /// stream : Stream, optional
    ///     Queue the copy on this stream, or on one of another library.  The call then
    ///     returns at once if `out` is in pinned memory, and otherwise waits for the stream.
    ///     0 is the default stream, as without one: the call sees all work queued there, and
    ///     the copy is complete when it returns.
    /// ary : numpy.ndarray, optional
    ///     Numba's name for `out`.
    ///
    /// Returns
    /// -------
    /// numpy.ndarray
    ///     `out`, or a new array, in Fortran order if only that is the device array's.
    ///     Elements with gaps between them are gathered on the device first, which takes as
    ///     much memory there as they have bytes.
    ///
    /// Raises
    /// ------
    /// TypeError, ValueError
    ///     If `out` has another dtype or shape, or is read-only, or if the array has nulls.
    ///
    /// Examples
    /// --------
    /// >>> array = DeviceArray.from_host(np.arange(6).reshape(2, 3))
    /// >>> array[:, 1].copy_to_host()
    /// array([1, 4])
    #[pyo3(signature = (out=None, stream=None, *, ary=None))]
    fn copy_to_host<'py>(
        &self,
        py: Python<'py>,
        out: Option<&Bound<'py, PyAny>>,
        stream: Option<&Bound<'py, PyAny>>,
        ary: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if out.is_some() && ary.is_some() {
            return Err(PyTypeError::new_err("out and ary are two names of one argument"));
        }
        let copy = || {
            let order = order_of_copy(self, stream)?;
            let out = out.or(ary).filter(|out| !out.is_none());
            Ok(host::to_numpy(py, self, out, &order)?.into_any())
        };
        traced(py, Area::Transfer, "DeviceArray.copy_to_host", copy, |_| self.facts())
    }

    /// Copy the elements to the array of the host that this array was made with.
    ///
    /// Parameters
    /// ----------
    /// stream : Stream, optional
    ///     Queue the copy on this stream, as for `copy_to_host`.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the array was not made by `pyarrow_cuda_compat.memory.DeviceNDArray` with a
    ///     `writeback`; views of it have no `writeback`.
    ///
    /// Examples
    /// --------
    /// >>> host = np.zeros(3)
    /// >>> array = memory.DeviceNDArray(host.shape, host.strides, host.dtype, writeback=host)
    /// >>> array.fill(1.5)  # or a kernel
    /// >>> array.to_host()
    /// >>> host
    /// array([1.5, 1.5, 1.5])
    #[pyo3(signature = (stream=None))]
    fn to_host(&self, py: Python<'_>, stream: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let Some(host) = self.writeback.get(py) else {
            return Err(PyValueError::new_err("no associated writeback array"));
        };
        self.copy_to_host(py, Some(host.bind(py)), stream, None).map(drop)
    }

    /// Copy elements into this array.
    ///
    /// Parameters
    /// ----------
    /// ary : array_like
    ///     An array of the same shape and dtype, on the host or on a device.
    /// stream : Stream, optional
    ///     Queue the copy on this stream, as for `copy_to_host`.
    ///
    /// Raises
    /// ------
    /// TypeError, ValueError
    ///     If `ary` has another dtype or shape, or this array is read-only; if one of them has nulls.
    ///
    /// Examples
    /// --------
    /// >>> array = DeviceArray.empty(3, np.int16)
    /// >>> array.copy_to_device(np.array([1, 2, 3], np.int16))
    /// >>> array.copy_to_host()
    /// array([1, 2, 3], dtype=int16)
    #[pyo3(signature = (ary, stream=None))]
    fn copy_to_device(
        &self,
        ary: &Bound<'_, PyAny>,
        stream: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let copy = || {
            let order = order_of_copy(self, stream)?;
            host::from_any(self, ary, &order)
        };
        traced(ary.py(), Area::Transfer, "DeviceArray.copy_to_device", copy, |()| self.facts())
    }

    /// Copy the array on its device.
    ///
    /// Parameters
    /// ----------
    /// order : {'C', 'F', 'A', 'K'}, default 'C'
    ///     Whether the last or the first dimension of the copy is the densest; 'A' and 'K' as for `ravel`.
    ///
    /// Returns
    /// -------
    /// DeviceArray
    ///     In memory of its own, without gaps.  It has the nulls of an array that came from Arrow.
    ///
    /// Examples
    /// --------
    /// >>> DeviceArray.empty((4, 6))[::2, ::3].copy().strides
    /// (16, 8)
    #[pyo3(signature = (order="C"))]
    fn copy(&self, py: Python<'_>, order: &str) -> PyResult<Self> {
        let order = order_for(&self.array, order)?;
        let context = self.array.buffer().context();
        let array = py.detach(|| self.array.copy_to(context, order)).or_raise(py)?;
        let arrow = self.arrow_of_copy(py, &array)?;
        Ok(Self::with_arrow(array, self.dtype.clone_ref(py), arrow))
    }

    /// Set every element to a value.
    ///
    /// Parameters
    /// ----------
    /// value : scalar
    ///     It is converted to the array's dtype, as NumPy does in an assignment.
    ///
    /// Raises
    /// ------
    /// TypeError, ValueError, OverflowError
    ///     If `value` is not a scalar that the dtype can have, or the array is read-only.
    ///
    /// Examples
    /// --------
    /// >>> array = DeviceArray.empty(3, "<f4")
    /// >>> array.fill(1.5)
    /// >>> array.copy_to_host()
    /// array([1.5, 1.5, 1.5], dtype=float32)
    fn fill(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let one = host::as_element(value.py(), value, &self.dtype.to_numpy(value.py())?)?;
        host::assign(self, one.as_any())
    }

    /// The elements as a NumPy array; ``numpy.asarray(array)`` calls this method.
    ///
    /// Parameters
    /// ----------
    /// dtype : numpy.dtype, optional
    ///     What to convert them to, on the host.
    /// copy : bool, optional
    ///     False is refused: the host cannot access device memory.
    ///
    /// Returns
    /// -------
    /// numpy.ndarray
    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        check_copied("an array", copy)?;
        converted(host::to_numpy(py, self, None, &ChosenOrder::NOW)?.into_any(), dtype)
    }

    /// The one element, as a Python object.
    ///
    /// Returns
    /// -------
    /// scalar
    ///     What NumPy's ``item`` returns.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the array has another number of elements.
    ///
    /// Examples
    /// --------
    /// >>> DeviceArray.from_host([1.5, 2.5])[1].item()
    /// 2.5
    fn item<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if self.array.layout().count() != 1 {
            return Err(PyValueError::new_err(
                "can only convert an array of size 1 to a Python scalar",
            ));
        }
        self.item_of(py)
    }
}
