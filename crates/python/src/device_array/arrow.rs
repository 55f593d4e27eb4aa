//! Conversions between Arrow arrays and `DeviceArray`; the nulls of views and copies.

use super::arrow_data::{ArrowData, Bits};
use super::class::PyDeviceArray;
use crate::bounded_sequences::integers;
use crate::errors::OrRaise;
use crate::exchange::dlpack::export::{self, Request};
use crate::exchange::dtype::DType;
use crate::interpreter::call_out;
use crate::pyarrow::from_pyarrow::{cuda_buffer_argument, object_ref};
use crate::pyarrow::pyarrow;
use crate::pyarrow::to_pyarrow::wrap_buffer;
use arrow_cuda_bridge::Elements;
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_numba_bridge::dlpack::abi::DLDataType;
use arrow_cuda_numba_bridge::{ElementType, Index, StridedArray, StridedLayout};
use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::Arc;

impl PyDeviceArray {
    /// A bitmap as the array that Arrow's booleans are.
    pub(super) fn of_bits(py: Python<'_>, bits: &Bits) -> PyResult<Self> {
        let boolean = py.import("pyarrow")?.call_method0("bool_")?.unbind();
        let bytes = bits.to_bytes(py)?;
        let dtype = DType::of_element(bytes.element());
        let arrow = ArrowData::new(boolean, bits.buffer.clone(), None, Some(bits.clone()));
        Ok(Self::with_arrow(bytes, dtype, Some(Arc::new(arrow))))
    }

    /// Refuses an array with nulls for a purpose that would show their values.
    pub(super) fn check_no_nulls(&self, py: Python<'_>) -> PyResult<()> {
        self.refuse_nulls(py, PyValueError::new_err)
    }

    /// Refuses an array with nulls with the exception that consumers of DLPack and the CUDA array interface expect.
    pub(super) fn check_exchangeable(&self, py: Python<'_>) -> PyResult<()> {
        self.refuse_nulls(py, PyBufferError::new_err)
    }

    fn refuse_nulls(&self, py: Python<'_>, exception: fn(String) -> PyErr) -> PyResult<()> {
        let Some(arrow) = &self.arrow else { return Ok(()) };
        match arrow.null_count(py)? {
            0 => Ok(()),
            nulls => Err(exception(format!(
                "the array has nulls ({nulls} of {}), which only Arrow knows: to_arrow() keeps \
                 them, .values is the array without its validity bitmap, and \
                 DeviceArray.from_arrow(column, nulls='fill') replaces them",
                arrow.validity.as_ref().map_or(0, |validity| validity.count)
            ))),
        }
    }

    /// What Arrow knows of the part that an index expression names.
    ///
    /// A run of neighbours keeps its nulls; parts with gaps have no bitmap of their own.
    pub(super) fn arrow_of_part(
        &self,
        py: Python<'_>,
        entries: &[Index],
        part: &StridedArray,
    ) -> PyResult<Option<Arc<ArrowData>>> {
        let Some(arrow) = &self.arrow else { return Ok(None) };
        let size = u64::from(part.element().size());
        let is_run = part.layout().ndim() == 1 && part.layout().is_row_major();
        let run = (is_run && !entries.contains(&Index::New)).then(|| {
            let start = match part.buffer().is_empty() {
                true => 0,
                false => ((part.private_address() - self.array.private_address()) / size) as usize,
            };
            (start, part.layout().count() as usize)
        });
        match (run, &arrow.bits, &arrow.validity) {
            (Some((start, count)), Some(bits), validity) => {
                let (start, count) = bits.of_bytes(start, count);
                let validity = validity.as_ref().map(|bits| bits.slice(start, count));
                Ok(Some(arrow.part(py, validity, Some(bits.slice(start, count)))))
            }
            (None, Some(_), _) => {
                self.check_no_nulls(py)?;
                Ok(None) // bytes of a bitmap with gaps between them are bytes
            }
            (_, None, None) => Ok(Some(arrow.clone())),
            (Some((start, count)), None, Some(validity)) => {
                Ok(Some(arrow.part(py, Some(validity.slice(start, count)), None)))
            }
            (None, None, Some(validity)) => {
                if part.layout().ndim() > 0 || !self.is_valid(py, validity, part)? {
                    self.check_no_nulls(py)?;
                }
                Ok(Some(arrow.without_nulls(py)))
            }
        }
    }

    fn is_valid(&self, py: Python<'_>, validity: &Bits, element: &StridedArray) -> PyResult<bool> {
        let size = u64::from(element.element().size());
        let place = (element.private_address() - self.array.private_address()) / size;
        Ok(validity.slice(place as usize, 1).zeros(py)? == 0)
    }

    /// What Arrow knows of all elements, perhaps in another shape, in which the bytes of a bitmap are bytes.
    pub(super) fn arrow_of_view(
        &self,
        py: Python<'_>,
        view: &StridedArray,
    ) -> PyResult<Option<Arc<ArrowData>>> {
        self.check_no_nulls(py)?;
        let is_same = view.layout() == self.array.layout();
        let arrow = self.arrow.as_ref().filter(|arrow| arrow.bits.is_none() || is_same);
        Ok(arrow.map(|arrow| arrow.without_nulls(py)))
    }

    /// What Arrow knows of all elements in memory of their own.
    pub(super) fn arrow_of_copy(
        &self,
        py: Python<'_>,
        copy: &StridedArray,
    ) -> PyResult<Option<Arc<ArrowData>>> {
        let Some(arrow) = &self.arrow else { return Ok(None) };
        // The values begin where the bitmap does.
        let place = arrow.bits.as_ref().map_or(0, |bits| bits.first % 8);
        let bits = arrow.bits.as_ref().map(|bits| Bits::new(copy.buffer(), place, bits.count));
        let validity = match arrow.null_count(py)? {
            0 => None,
            _ => arrow.validity.as_ref().map(|bits| bits.copied(py, place)).transpose()?,
        };
        let (kind, whole) = (arrow.kind.clone_ref(py), copy.buffer().clone());
        Ok(Some(Arc::new(ArrowData::new(kind, whole, validity, bits.transpose()?))))
    }
}

/// An array over the buffers of an Arrow array whose values begin at `offset`, in elements;
/// `is_bitmap` says that `shape` counts bits of `values`.
#[pyfunction(name = "_array_of_arrow")]
pub(super) fn array_of_arrow(
    kind: Py<PyAny>,
    values: &Bound<'_, PyAny>,
    dtype: &Bound<'_, PyAny>,
    shape: &Bound<'_, PyAny>,
    offset: usize,
    validity: Option<&Bound<'_, PyAny>>,
    is_bitmap: bool,
) -> PyResult<PyDeviceArray> {
    let py = values.py();
    let shape = integers(shape)?;
    let values = cuda_buffer_argument(values)?;
    let count = shape.first().map_or(1, |length| length.unsigned_abs() as usize);
    let bits = is_bitmap.then(|| Bits::new(values, offset, count)).transpose()?;
    let validity = match validity {
        Some(bitmap) => Some(Bits::new(cuda_buffer_argument(bitmap)?, offset, count)?),
        None => None,
    };
    let dtype = DType::of(dtype)?;
    let array = match &bits {
        Some(bits) => bits.to_bytes(py)?,
        None => {
            let layout = StridedLayout::row_major(dtype.element(), shape).or_raise(py)?;
            // An empty array may begin where the buffer ends, which is outside of it.
            let offset = if layout.size() == 0 { 0 } else { offset };
            let offset = offset.saturating_mul(dtype.element().size() as usize);
            StridedArray::new(values, offset, layout).or_raise(py)?
        }
    };
    let arrow = ArrowData::new(kind, values.clone(), validity, bits);
    Ok(PyDeviceArray::with_arrow(array, dtype, Some(Arc::new(arrow))))
}

/// The same elements with an Arrow type.  If `bits` is given, the elements are bits: the first one's place in
/// the first byte, and their number.
#[pyfunction(name = "_with_arrow_type")]
pub(super) fn with_arrow_type(
    py: Python<'_>,
    array: &PyDeviceArray,
    kind: Py<PyAny>,
    bits: Option<(usize, usize)>,
) -> PyResult<PyDeviceArray> {
    let buffer = array.array.buffer();
    let bits = bits.map(|(first, count)| Bits::new(buffer, first, count)).transpose()?;
    let arrow = ArrowData::new(kind, buffer.clone(), None, bits);
    let dtype = array.dtype.clone_ref(py);
    Ok(PyDeviceArray::with_arrow(array.array.clone(), dtype, Some(Arc::new(arrow))))
}

/// The array of an Arrow array, which is copied to a device if it is on the host.
pub(super) fn of_arrow<'py>(array: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDeviceArray>> {
    let py = array.py();
    match numbers(array)? {
        Some(found) => Bound::new(py, found),
        None => {
            let from_arrow = py.get_type::<PyDeviceArray>().getattr(intern!(py, "from_arrow"))?;
            Ok(call_out(&from_arrow, (array,))?.cast_into()?)
        }
    }
}

/// Numbers on a device, none of which can be null, as a tensor for a consumer that passes these arguments to
/// `__dlpack__`.  None for other arrays and other arguments, which need a closer look.
#[pyfunction(name = "_numbers_as_tensor")]
pub(super) fn numbers_as_tensor<'py>(
    array: &Bound<'py, PyAny>,
    arguments: &Bound<'py, PyTuple>,
    options: &Bound<'py, PyDict>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = array.py();
    let Some((_, numbers)) = elements_of(array)? else { return Ok(None) };
    let Some(request) = Request::of(arguments, options) else { return Ok(None) };
    export::to_capsule(py, &numbers, &request).map(Some)
}

/// Such numbers as an array.
#[pyfunction(name = "_numbers")]
pub(super) fn numbers(array: &Bound<'_, PyAny>) -> PyResult<Option<PyDeviceArray>> {
    let py = array.py();
    let Some((values, numbers)) = elements_of(array)? else { return Ok(None) };
    let dtype = DType::of_element(numbers.element());
    let kind = array.getattr(intern!(py, "type"))?.unbind();
    let arrow = Arc::new(ArrowData::new(kind, values.clone(), None, None));
    Ok(Some(PyDeviceArray::with_arrow(numbers, dtype, Some(arrow))))
}

/// The buffer of numbers on a device, none of which can be null, and the elements that the array has there.
fn elements_of<'a>(
    array: &'a Bound<'_, PyAny>,
) -> PyResult<Option<(&'a DeviceBuffer, StridedArray)>> {
    let py = array.py();
    let Some((values, elements)) = pyarrow(py)?.bridge.elements_of(object_ref(array)) else {
        return Ok(None);
    };
    let Elements { code, bits, offset, length } = elements;
    let element = ElementType::from_dlpack(DLDataType { code, bits, lanes: 1 }).or_raise(py)?;
    let layout = StridedLayout::row_major(element, vec![length]).or_raise(py)?;
    let offset = (offset.unsigned_abs() as usize).saturating_mul(element.size() as usize);
    let numbers = StridedArray::new(values, offset, layout).or_raise(py)?;
    Ok(Some((values, numbers)))
}

/// Values, a validity bitmap, where in both an Arrow array begins, and its length in elements.
type Parts<'py> = (Bound<'py, PyAny>, Option<Bound<'py, PyAny>>, usize, usize);

/// The parts of the Arrow array that an array is.
#[pyfunction(name = "_arrow_parts")]
pub(super) fn arrow_parts<'py>(array: &Bound<'py, PyDeviceArray>) -> PyResult<Parts<'py>> {
    let py = array.py();
    let array = array.get();
    let rows =
        array.array.layout().shape().first().map_or(1, |length| length.unsigned_abs() as usize);
    let found = array.arrow.as_ref().and_then(|arrow| {
        let bits = arrow.bits.as_ref().or(arrow.validity.as_ref())?;
        Some((arrow, bits))
    });
    let Some((arrow, bits)) = found else {
        return Ok((wrap_buffer(py, array.array.buffer().clone())?, None, 0, rows));
    };
    let validity = arrow.validity.as_ref().map(|bits| wrap_buffer(py, bits.buffer.clone()));
    Ok((wrap_buffer(py, arrow.whole.clone())?, validity.transpose()?, bits.first, bits.count))
}
