//! Bits as bytes, and other values in the place of nulls.

use super::arrow_data::{ArrowData, Bits};
use super::class::PyDeviceArray;
use crate::errors::OrRaise;
use crate::exchange::dtype::DType;
use crate::signals::copy_for_signals;
use arrow_cuda_buffer::{DeviceBuffer, Source, select};
use arrow_cuda_numba_bridge::{ElementType, StridedLayout};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::sync::Arc;

/// The bits of an array as booleans, a byte each, perhaps inverted.
#[pyfunction(name = "_booleans_of_bits")]
pub(super) fn booleans_of_bits(
    py: Python<'_>,
    array: &PyDeviceArray,
    is_inverted: bool,
) -> PyResult<PyDeviceArray> {
    let bits = bits_of(array)?;
    let boolean: ElementType = "|b1".parse().or_raise(py)?;
    let layout = StridedLayout::row_major(boolean, vec![bits.count as i64]).or_raise(py)?;
    let context = bits.buffer.context();
    let made = PyDeviceArray::allocate(py, context, DType::of_element(boolean), layout)?;
    let [set, clear] = [!is_inverted, is_inverted].map(|bit| [u8::from(bit)]);
    fill(py, made.array.buffer(), 1, bits, [Source::One(&set), Source::One(&clear)])?;
    Ok(made)
}

/// The elements of an array in memory of their own, with the one of these bytes where the bits are 0.
#[pyfunction(name = "_filled")]
pub(super) fn filled(
    py: Python<'_>,
    array: &PyDeviceArray,
    validity: &PyDeviceArray,
    element: &[u8],
) -> PyResult<PyDeviceArray> {
    let (values, bits) = (array.array.buffer(), bits_of(validity)?);
    let (dtype, layout) = (array.dtype.clone_ref(py), array.array.layout().clone());
    let size = array.array.element().size() as usize;
    let made = PyDeviceArray::allocate(py, values.context(), dtype, layout)?;
    let sources = [Source::Each(values), Source::One(element)];
    fill(py, made.array.buffer(), size, bits, sources)?;
    let arrow = array.arrow.as_ref().map(|arrow| {
        Arc::new(ArrowData::new(arrow.kind.clone_ref(py), made.array.buffer().clone(), None, None))
    });
    Ok(PyDeviceArray::with_arrow(made.array, made.dtype, arrow))
}

fn bits_of(array: &PyDeviceArray) -> PyResult<&Bits> {
    let bits = array.arrow.as_ref().and_then(|arrow| arrow.bits.as_ref());
    bits.ok_or_else(|| PyTypeError::new_err("the array is no bitmap"))
}

fn fill(
    py: Python<'_>,
    to: &DeviceBuffer,
    size: usize,
    bits: &Bits,
    [set, clear]: [Source<'_>; 2],
) -> PyResult<()> {
    copy_for_signals(py, to.context(), || {
        py.detach(|| select(to, size, (&bits.buffer, bits.first), set, clear)).or_raise(py)
    })
}
