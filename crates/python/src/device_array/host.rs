//! Copies between NumPy arrays and device arrays.

use super::class::PyDeviceArray;
use super::import;
use crate::errors::{OrRaise, class_name};
use crate::exchange::dtype::DType;
use crate::pyarrow::from_pyarrow::{
    check_has_arrays, check_has_bytes, has_values, host_bytes_mut, is_on_device,
};
use crate::pyarrow::to_pyarrow::allocate_host;
use crate::signals::copy_for_signals;
use crate::streams::argument::{ChosenOrder, optional_stream, owner_for};
use arrow_cuda_context::Context;
use arrow_cuda_numba_bridge::{Order, StridedArray, StridedLayout};
use numpy::npyffi::{NPY_ARRAY_WRITEABLE, NpyTypes, PY_ARRAY_API, get_type_object, npy_intp};
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use std::mem::MaybeUninit;

pub(super) fn order_of_copy(
    array: &PyDeviceArray,
    stream: Option<&Bound<'_, PyAny>>,
) -> PyResult<ChosenOrder> {
    optional_stream("stream", stream, &[array.array.buffer().context()])
}

/// The elements in an array of NumPy: a new one, or `out`.
pub(super) fn to_numpy<'py>(
    py: Python<'py>,
    source: &PyDeviceArray,
    out: Option<&Bound<'py, PyAny>>,
    chosen: &ChosenOrder,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    source.check_no_nulls(py)?;
    let Some(out) = out else {
        let order = source.array.order().unwrap_or(Order::C);
        let new = empty(py, source, order)?;
        copy_down(py, &source.array, &new, order, chosen)?;
        return Ok(new);
    };
    let out = out.cast::<PyUntypedArray>().map_err(|_| {
        PyTypeError::new_err(format!(
            "the host array must be a numpy.ndarray, not {}",
            class_name(out)
        ))
    })?;
    let dtype = source.dtype.to_numpy(py)?;
    check_like(source, &dtype, out)?;
    if !is_writable(out) {
        return Err(PyValueError::new_err("assignment destination is read-only"));
    }
    match order_of(out) {
        Some(order) => copy_down(py, &source.array, out, order, chosen)?,
        None => {
            // NumPy scatters on the host what was copied at once.  The copy is complete when the call
            // returns, on a stream too, because the memory is pageable.
            let dense = empty(py, source, Order::C)?;
            copy_down(py, &source.array, &dense, Order::C, chosen)?;
            numpy(py)?.call_method1(intern!(py, "copyto"), (out, dense))?;
        }
    }
    Ok(out.clone())
}

/// Copies an array of the host, or of a device, into all elements of the target.
pub(super) fn from_any(
    target: &PyDeviceArray,
    source: &Bound<'_, PyAny>,
    chosen: &ChosenOrder,
) -> PyResult<()> {
    let py = source.py();
    check_writable(target)?;
    target.check_no_nulls(py)?;
    let dtype = target.dtype.to_numpy(py)?;
    if let Some(theirs) = import::device_array(source)? {
        let theirs = theirs.get();
        theirs.check_no_nulls(py)?;
        check_same_type(target, theirs, py)?;
        if theirs.array.layout().shape() != target.array.layout().shape() {
            return Err(PyValueError::new_err(format!(
                "incompatible shape: {} vs. {}",
                target.shape(py)?,
                theirs.shape(py)?
            )));
        }
        return copy_across(py, &target.array, &theirs.array, chosen);
    }
    let host = as_numpy(py, source, None)?;
    check_like(target, &dtype, &host)?;
    copy_up(py, &target.array, &host, chosen)
}

/// Assigns to all elements of the target, as NumPy does: a scalar or an array of the host is
/// converted to the target's type, and everything is repeated to its shape.
pub(super) fn assign(target: &PyDeviceArray, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = value.py();
    check_writable(target)?;
    target.check_no_nulls(py)?;
    let theirs = import::device_array(value)?;
    if let Some(array) = &theirs {
        let array = array.get();
        array.check_no_nulls(py)?;
        // An element of another type is its scalar, which NumPy converts.
        let is_scalar = array.array.layout().ndim() == 0;
        if !is_scalar || target.dtype.is_same(&array.dtype, py)? {
            check_same_type(target, array, py)?;
            return copy_across(py, &target.array, &array.array, &ChosenOrder::NOW);
        }
    }
    let value = theirs.as_ref().map_or(value, |array| array.as_any());
    let dtype = target.dtype.to_numpy(py)?;
    let is_element = target.array.layout().ndim() == 0;
    let host =
        match is_element || value.is_instance(&numpy(py)?.getattr(intern!(py, "generic"))?)? {
            true => as_element(py, value, &dtype)?,
            false => as_numpy(py, value, Some(&dtype))?,
        };
    let shape: Vec<i64> = host.shape().iter().map(|length| *length as i64).collect();
    let is_sequence = value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>();
    if is_sequence && shape.len() > target.array.layout().ndim() {
        return Err(PyValueError::new_err("setting an array element with a sequence"));
    }
    let element = target.array.element();
    // Before anything is copied: does it fit?
    let one = StridedLayout::row_major(element, shape.clone()).or_raise(py)?;
    one.broadcast_to(target.array.layout().shape()).or_raise(py)?;
    if target.array.layout().size() == 0 {
        return Ok(());
    }
    if host.len() == 1 {
        let bytes = bytes_of(&host);
        return copy_for_signals(py, target.array.buffer().context(), || {
            py.detach(|| target.array.fill(bytes)).or_raise(py)
        });
    }
    if shape == target.array.layout().shape() {
        return copy_up(py, &target.array, &host, &ChosenOrder::NOW);
    }
    // As few bytes as possible travel; the device repeats them.
    let context = target.array.buffer().context();
    let sent = upload(py, &host, target.dtype.clone_ref(py), context, Order::C)?;
    copy_across(py, &target.array, &sent.array, &ChosenOrder::NOW)
}

/// A new device array with the elements of an array of the host.
pub(super) fn upload(
    py: Python<'_>,
    host: &Bound<'_, PyUntypedArray>,
    dtype: DType,
    context: &Context,
    order: Order,
) -> PyResult<PyDeviceArray> {
    let shape = host.shape().iter().map(|length| *length as i64).collect();
    let layout = StridedLayout::dense(dtype.element(), shape, order).or_raise(py)?;
    let made = PyDeviceArray::allocate(py, context, dtype, layout)?;
    copy_up(py, &made.array, host, &ChosenOrder::NOW)?;
    Ok(made)
}

/// Anything that NumPy makes an array of.
pub(super) fn as_numpy<'py>(
    py: Python<'py>,
    object: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyArrayDescr>>,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    if let Ok(array) = object.cast::<PyUntypedArray>()
        && dtype.is_none_or(|dtype| array.dtype().is_equiv_to(dtype))
    {
        return Ok(array.clone());
    }
    check_arrow(object)?;
    // Assignment converts as NumPy's own does: 1.5 becomes 1 in an array of integers.
    let array = numpy(py)?.call_method1(intern!(py, "asarray"), (object, dtype))?;
    Ok(array.cast_into::<PyUntypedArray>()?)
}

/// A scalar as an element: NumPy refuses in an assignment what it would convert to an array.
pub(super) fn as_element<'py>(
    py: Python<'py>,
    scalar: &Bound<'py, PyAny>,
    dtype: &Bound<'py, PyArrayDescr>,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    check_arrow(scalar)?;
    let element = numpy(py)?.call_method1(intern!(py, "empty"), (PyTuple::empty(py), dtype))?;
    element.set_item(PyTuple::empty(py), scalar)?;
    Ok(element.cast_into::<PyUntypedArray>()?)
}

/// Refuses arrays of Arrow from which NumPy would make other values than they have.
#[pyfunction(name = "_check_arrow")]
pub(super) fn check_arrow(object: &Bound<'_, PyAny>) -> PyResult<()> {
    if object.cast::<PyDeviceArray>().is_ok() {
        return Ok(()); // which says so itself
    }
    if has_values(object)? {
        check_has_arrays(object)?;
        if is_on_device(object)? {
            return Err(PyTypeError::new_err(
                "the array is on a device: DeviceArray.from_arrow(array) views it there",
            ));
        }
    }
    check_has_bytes(object)?;
    // Chunked arrays have one, too.
    let nulls = object.getattr_opt(intern!(object.py(), "null_count"))?;
    match nulls.and_then(|nulls| nulls.extract::<u64>().ok()) {
        None | Some(0) => Ok(()),
        Some(nulls) => Err(PyValueError::new_err(format!(
            "the array has nulls ({nulls} of {}), which NumPy does not know: \
             DeviceArray.from_arrow(array) keeps them, array.fill_null(value) replaces them",
            object.len()?
        ))),
    }
}

/// The order in which the elements of an array of the host follow each other without gaps.
pub(super) fn order_of(host: &Bound<'_, PyUntypedArray>) -> Option<Order> {
    if host.is_c_contiguous() {
        Some(Order::C)
    } else {
        host.is_fortran_contiguous().then_some(Order::Fortran)
    }
}

/// A new uninitialised NumPy array in memory from Arrow's pool, which reuses pages that are mapped already.
fn empty<'py>(
    py: Python<'py>,
    like: &PyDeviceArray,
    order: Order,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let layout = like.array.layout();
    let layout =
        StridedLayout::dense(layout.element(), layout.shape().to_vec(), order).or_raise(py)?;
    let buffer = allocate_host(py, layout.size())?;
    let memory = host_bytes_mut(&buffer, layout.size())?.as_mut_ptr();
    let mut shape: Vec<npy_intp> = layout.shape().iter().map(|length| *length as _).collect();
    let mut strides: Vec<npy_intp> = layout.strides().iter().map(|stride| *stride as _).collect();
    let dtype = like.dtype.to_numpy(py)?;
    // SAFETY: the lists have `ndim` entries, and the buffer has the memory for these elements; the
    // array takes over the references to its dtype and its base.
    unsafe {
        let array = PY_ARRAY_API.PyArray_NewFromDescr(
            py,
            get_type_object(py, NpyTypes::PyArray_Type),
            dtype.into_dtype_ptr(),
            shape.len() as _,
            shape.as_mut_ptr(),
            strides.as_mut_ptr(),
            memory.cast(),
            NPY_ARRAY_WRITEABLE,
            std::ptr::null_mut(),
        );
        let array = Bound::from_owned_ptr_or_err(py, array)?.cast_into_unchecked();
        let array: Bound<'py, PyUntypedArray> = array;
        if PY_ARRAY_API.PyArray_SetBaseObject(py, array.as_array_ptr(), buffer.into_ptr()) != 0 {
            return Err(PyErr::fetch(py));
        }
        Ok(array)
    }
}

fn copy_down(
    py: Python<'_>,
    source: &StridedArray,
    out: &Bound<'_, PyUntypedArray>,
    order: Order,
    chosen: &ChosenOrder,
) -> PyResult<()> {
    chosen.copy(py, &[source.buffer().context()], |when| {
        let (bytes, mut owner) = (bytes_of_mut(out), owner_for(when, out));
        let copied = py.detach(|| {
            // SAFETY: the owner keeps the memory valid; other threads may read it meanwhile, as
            // everywhere in Python.
            unsafe { source.copy_to_host_in(when, bytes, order, &mut owner) }
        });
        copied.or_raise(py).map(drop)
    })
}

fn copy_up(
    py: Python<'_>,
    target: &StridedArray,
    host: &Bound<'_, PyUntypedArray>,
    chosen: &ChosenOrder,
) -> PyResult<()> {
    let order = match (order_of(host), host.is_fortran_contiguous()) {
        // In one dimension both orders are the same one: that of the target.
        (Some(Order::C), true) => target.order().unwrap_or(Order::C),
        (Some(order), _) => order,
        (None, _) => {
            let dense = numpy(py)?.call_method1(intern!(py, "ascontiguousarray"), (host,))?;
            return copy_up(py, target, &dense.cast_into::<PyUntypedArray>()?, chosen);
        }
    };
    chosen.copy(py, &[target.buffer().context()], |when| {
        let (bytes, mut owner) = (bytes_of(host), owner_for(when, host));
        let copied = py.detach(|| {
            // SAFETY: the owner keeps the memory valid; other threads may write to it meanwhile, as
            // everywhere in Python.
            unsafe { target.copy_from_host_in(when, bytes, order, &mut owner) }
        });
        copied.or_raise(py).map(drop)
    })
}

fn copy_across(
    py: Python<'_>,
    target: &StridedArray,
    source: &StridedArray,
    chosen: &ChosenOrder,
) -> PyResult<()> {
    let contexts = [target.buffer().context(), source.buffer().context()];
    chosen.between(contexts[0], contexts[1]).copy(py, &contexts, |when| {
        py.detach(|| target.copy_from_in(when, source)).or_raise(py).map(drop)
    })
}

fn numpy(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import(intern!(py, "numpy"))
}

/// Reads NumPy's own field: a subclass could change the array in its attribute.
fn is_writable(host: &Bound<'_, PyUntypedArray>) -> bool {
    // SAFETY: a live array.
    unsafe { (*host.as_array_ptr()).fields.flags & NPY_ARRAY_WRITEABLE != 0 }
}

fn check_writable(target: &PyDeviceArray) -> PyResult<()> {
    match target.array.buffer().is_mutable() {
        true => Ok(()),
        false => Err(PyValueError::new_err("assignment destination is read-only")),
    }
}

/// Refuses an array of the host that has another shape or other elements, in Numba's words.
fn check_like(
    array: &PyDeviceArray,
    dtype: &Bound<'_, PyArrayDescr>,
    host: &Bound<'_, PyUntypedArray>,
) -> PyResult<()> {
    let shape = array.array.layout().shape();
    if !host.shape().iter().map(|length| *length as i64).eq(shape.iter().copied()) {
        return Err(PyValueError::new_err(format!(
            "incompatible shape: {} vs. {} of the host array",
            array.shape(host.py())?,
            host.getattr(intern!(host.py(), "shape"))?
        )));
    }
    if !host.dtype().is_equiv_to(dtype) {
        return Err(PyTypeError::new_err(format!(
            "incompatible dtype: {dtype} vs. {} of the host array",
            host.dtype()
        )));
    }
    Ok(())
}

fn check_same_type(target: &PyDeviceArray, source: &PyDeviceArray, py: Python<'_>) -> PyResult<()> {
    if target.dtype.is_same(&source.dtype, py)? {
        return Ok(());
    }
    Err(PyTypeError::new_err(format!(
        "incompatible dtype: {} vs. {}: a copy on the device does not convert",
        target.dtype.to_numpy(py)?,
        source.dtype.to_numpy(py)?
    )))
}

/// The bytes of a contiguous array.  They are only ever copied from: others may write to them
/// meanwhile, as everywhere in Python.
fn bytes_of<'a>(host: &'a Bound<'_, PyUntypedArray>) -> &'a [u8] {
    let (address, size) = memory_of(host);
    // SAFETY: the memory of a contiguous array, which the object owns.
    if size == 0 { &[] } else { unsafe { std::slice::from_raw_parts(address, size) } }
}

/// The bytes of a contiguous array, to be written.
#[expect(clippy::mut_from_ref, reason = "the memory is the array's, not the reference's")]
fn bytes_of_mut<'a>(host: &'a Bound<'_, PyUntypedArray>) -> &'a mut [MaybeUninit<u8>] {
    let (address, size) = memory_of(host);
    if size == 0 {
        return &mut [];
    }
    // SAFETY: the memory of a contiguous array that is writable, which the object owns.
    unsafe { std::slice::from_raw_parts_mut(address.cast(), size) }
}

fn memory_of(host: &Bound<'_, PyUntypedArray>) -> (*mut u8, usize) {
    // SAFETY: a live array.
    let address = unsafe { (*host.as_array_ptr()).fields.data.cast() };
    (address, host.len() * host.dtype().itemsize())
}
