//! The Arrow type and the nulls of an array's elements, which NumPy's dtypes cannot express.

use crate::errors::OrRaise;
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_numba_bridge::StridedArray;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::sync::Arc;

/// Arrow's part of a device array.
pub(super) struct ArrowData {
    /// The `pyarrow.DataType`.
    pub(super) kind: Py<PyAny>,
    /// Arrow's buffer of values, of which the array may be a part.
    pub(super) whole: DeviceBuffer,
    /// Which elements are valid, if some may be null.
    pub(super) validity: Option<Bits>,
    /// The array's own bits, where its elements are the bytes of a bitmap.
    pub(super) bits: Option<Bits>,
    nulls: PyOnceLock<usize>,
}

/// Part of a bitmap in device memory, the lowest bit of each byte first.
#[derive(Clone)]
pub(super) struct Bits {
    pub(super) buffer: DeviceBuffer,
    pub(super) first: usize,
    pub(super) count: usize,
}

impl Bits {
    pub(super) fn new(buffer: &DeviceBuffer, first: usize, count: usize) -> PyResult<Self> {
        match first.checked_add(count) {
            Some(end) if end.div_ceil(8) <= buffer.len() => {
                Ok(Self { buffer: buffer.clone(), first, count })
            }
            _ => Err(PyValueError::new_err(format!(
                "{count} bits from bit {first} on do not fit into {} bytes",
                buffer.len()
            ))),
        }
    }

    pub(super) fn slice(&self, start: usize, count: usize) -> Self {
        Self { buffer: self.buffer.clone(), first: self.first + start, count }
    }

    /// Which of the bits are in a run of the bytes that contain them: the first one, and how many.
    pub(super) fn of_bytes(&self, start: usize, count: usize) -> (usize, usize) {
        let before = self.first % 8;
        let place = |byte: usize| (8 * byte).clamp(before, before + self.count) - before;
        let (first, end) = (place(start), place(start + count));
        (first, end - first)
    }

    /// The bytes that contain the bits.
    fn bytes(&self) -> Result<DeviceBuffer, arrow_cuda_buffer::Error> {
        let (start, end) = (self.first / 8, (self.first + self.count).div_ceil(8));
        self.buffer.slice_with_length(start, end - start)
    }

    /// The bytes that contain the bits, as an array.
    pub(super) fn to_bytes(&self, py: Python<'_>) -> PyResult<StridedArray> {
        StridedArray::of_bytes(&self.bytes().or_raise(py)?).or_raise(py)
    }

    pub(super) fn zeros(&self, py: Python<'_>) -> PyResult<usize> {
        let mut bytes = py.detach(|| self.bytes()?.to_vec()).or_raise(py)?;
        // The first and the last byte may contain bits of others.
        if let Some(byte) = bytes.first_mut() {
            *byte &= u8::MAX << (self.first % 8);
        }
        if let Some(byte) = bytes.last_mut() {
            *byte &= u8::MAX >> ((self.first + self.count).wrapping_neg() % 8);
        }
        let ones: usize = bytes.iter().map(|byte| byte.count_ones() as usize).sum();
        Ok(self.count - ones)
    }

    /// The same bits in memory of their own, of which the first one is at `place` of its byte.
    pub(super) fn copied(&self, py: Python<'_>, place: usize) -> PyResult<Self> {
        let distance = self.first % 8 - place;
        let buffer = py.detach(|| -> Result<_, arrow_cuda_buffer::Error> {
            let mut bytes = self.bytes()?.to_vec()?;
            if distance > 0 {
                let mut next = 0;
                for byte in bytes.iter_mut().rev() {
                    let shifted = *byte >> distance | next << (8 - distance);
                    next = std::mem::replace(byte, shifted);
                }
            }
            let copy = DeviceBuffer::allocate(self.buffer.context(), bytes.len())?;
            copy.copy_from_host(&bytes)?;
            Ok(copy)
        });
        Self::new(&buffer.or_raise(py)?, place, self.count)
    }
}

impl ArrowData {
    pub(super) fn new(
        kind: Py<PyAny>,
        whole: DeviceBuffer,
        validity: Option<Bits>,
        bits: Option<Bits>,
    ) -> Self {
        Self { kind, whole, validity, bits, nulls: PyOnceLock::new() }
    }

    pub(super) fn without_nulls(&self, py: Python<'_>) -> Arc<Self> {
        self.part(py, None, self.bits.clone())
    }

    /// The Arrow data of some of the elements, with their validity and bits.
    pub(super) fn part(
        &self,
        py: Python<'_>,
        validity: Option<Bits>,
        bits: Option<Bits>,
    ) -> Arc<Self> {
        Arc::new(Self::new(self.kind.clone_ref(py), self.whole.clone(), validity, bits))
    }

    /// The position of the first bit in the first byte, and the number of bits.
    pub(super) fn bit_range(&self) -> Option<(usize, usize)> {
        self.bits.as_ref().map(|bits| (bits.first % 8, bits.count))
    }

    pub(super) fn null_count(&self, py: Python<'_>) -> PyResult<usize> {
        let Some(validity) = &self.validity else { return Ok(0) };
        self.nulls.get_or_try_init(py, || validity.zeros(py)).copied()
    }
}
