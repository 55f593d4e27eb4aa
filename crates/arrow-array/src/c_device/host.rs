//! Exports arrow-rs' arrays in pinned memory, and imports arrays in host memory, by the C Device interface.

use super::abi::{CPU, CUDA_HOST, FFI_ArrowDeviceArray};
use super::import::event_of;
use crate::error::{Error, invalid};
use crate::node::Node;
use arrow_array::{Array, ArrayRef, ffi, make_array};
use arrow_cuda_context::Context;
use arrow_cuda_transfer::is_pinned;
use arrow_data::ffi::FFI_ArrowArray;
use arrow_schema::DataType;
use std::ptr;
use std::sync::Arc;

/// The structure of an array of arrow-rs that lies in pinned memory, for consumers whose device reads that
/// memory.  The structure shares the memory until it is released.
///
/// ```
/// use arrow_array::Int32Array;
/// use arrow_cuda_array::{DeviceArray, c_device};
/// use arrow_cuda_context::Context;
///
/// let context = Context::primary(0)?;
/// let numbers = Int32Array::from(vec![1, 2, 3]);
/// assert!(c_device::export_pinned(&context, &numbers).is_err(), "the memory is not pinned");
/// let pinned = DeviceArray::from_host(&context, &numbers)?.to_pinned_array()?;
/// let structure = c_device::export_pinned(&context, &pinned)?;
/// assert_eq!((structure.device_type, structure.device_id), (c_device::CUDA_HOST, -1));
/// # Ok::<(), arrow_cuda_array::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Unsupported`] when a buffer is not pinned; driver errors.
pub fn export_pinned(context: &Context, array: &dyn Array) -> Result<FFI_ArrowDeviceArray, Error> {
    let data = array.to_data();
    for buffer in Node::from_host(&data).all_buffers() {
        if !buffer.is_empty() && !is_pinned(context, buffer.as_ptr(), buffer.len())? {
            let text =
                "the array has a buffer that is not pinned: to_pinned_array makes such arrays";
            return Err(Error::Unsupported(text.into()));
        }
    }
    Ok(FFI_ArrowDeviceArray {
        array: FFI_ArrowArray::new(&data),
        device_id: -1,
        device_type: CUDA_HOST,
        sync_event: ptr::null_mut(),
        reserved: [0; 3],
    })
}

/// Takes over another library's array in host memory, pinned or not, once the structure's event is reached.
///
/// ```
/// use arrow_array::{Array, Int32Array};
/// use arrow_cuda_array::{DeviceArray, c_device};
/// use arrow_cuda_context::Context;
///
/// let context = Context::primary(0)?;
/// let numbers = Int32Array::from(vec![1, 2, 3]);
/// let pinned = DeviceArray::from_host(&context, &numbers)?.to_pinned_array()?;
/// let structure = c_device::export_pinned(&context, &pinned)?;
/// // SAFETY: the structure was made above, for this type.
/// let imported = unsafe { c_device::import_host(&context, structure, numbers.data_type()) }?;
/// assert_eq!(imported.to_data(), numbers.to_data());
/// # Ok::<(), arrow_cuda_array::Error>(())
/// ```
///
/// # Safety
///
/// As [`DeviceArray::import`](crate::DeviceArray::import).
///
/// # Errors
///
/// [`Error::Unsupported`] for other memory; [`Error::Invalid`] for a structure that was released; [`Error::Arrow`] when
/// arrow-rs refuses the array; driver errors.
pub unsafe fn import_host(
    context: &Context,
    structure: FFI_ArrowDeviceArray,
    data_type: &DataType,
) -> Result<ArrayRef, Error> {
    if structure.is_released() {
        return invalid("the structure was released");
    }
    if !matches!(structure.device_type, CPU | CUDA_HOST) {
        let text =
            format!("the memory is of device type {}, not the host's", structure.device_type);
        return Err(Error::Unsupported(text));
    }
    let structure = Arc::new(structure);
    if let Some(event) = event_of(context, &structure)? {
        event.wait()?;
    }
    let Some(structure) = Arc::into_inner(structure) else {
        return invalid("the structure is in use");
    };
    // SAFETY: guaranteed by the caller.
    let data = unsafe { ffi::from_ffi_and_data_type(structure.array, data_type.clone()) }?;
    data.validate_full()?;
    Ok(make_array(data))
}
