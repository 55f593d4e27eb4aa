//! Arrays in pinned host memory, which copies to and from a device like most.

use super::abi::{CPU, CUDA_HOST, FFI_ArrowDeviceArray};
use super::import::event_of;
use crate::DeviceArrayData;
use crate::error::{Error, invalid};
use crate::node::Node;
use arrow_array::{Array, ArrayRef, ffi, make_array};
use arrow_buffer::Buffer;
use arrow_cuda_buffer::copy_to_host_scattered;
use arrow_cuda_context::Context;
use arrow_cuda_layout::Reads;
use arrow_cuda_transfer::{HostBuffer, is_pinned};
use arrow_data::ffi::FFI_ArrowArray;
use arrow_schema::DataType;
use std::mem::MaybeUninit;
use std::panic::AssertUnwindSafe;
use std::ptr::{self, NonNull};
use std::slice;
use std::sync::Arc;

impl DeviceArrayData {
    /// Copies the array to pinned host memory, and validates it there.  A slice is copied on the device before, to what
    /// it reaches.
    ///
    /// An array of arrow-rs whose buffers lie in pinned memory is copied to a device, and exported by
    /// [`export_pinned`], from where it is.
    ///
    /// ```
    /// use arrow_array::{Array, Int64Array};
    /// use arrow_cuda_array::{DeviceArrayData, c_device};
    /// use arrow_cuda_context::Context;
    ///
    /// let context = Context::primary(0)?;
    /// let numbers = Int64Array::from(vec![1, 2, 3]);
    /// let there = DeviceArrayData::copy_from(&context, &numbers)?;
    /// let pinned = there.to_pinned_array()?;
    /// assert_eq!(pinned.to_data(), numbers.to_data());
    /// let structure = c_device::export_pinned(&context, &pinned)?;
    /// assert_eq!(structure.device_type, c_device::CUDA_HOST);
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`to_array`](Self::to_array), and driver errors when it cannot pin so much memory.
    pub fn to_pinned_array(&self) -> Result<ArrayRef, Error> {
        let mut is_sliced = false;
        self.node.visit(&mut |node| is_sliced |= node.offset > 0);
        if is_sliced {
            // arrow-rs would move the bits of a slice to the first byte, and to memory that is not pinned.
            return Self::concat(slice::from_ref(self))?.to_pinned_array();
        }
        let node = self.node.trim(Reads::None)?.node;
        let from = node.all_buffers();
        let allocate = |size: u64| HostBuffer::allocate(self.context(), size as usize);
        let pinned: Result<Vec<_>, _> = from.iter().map(|buffer| allocate(buffer.size())).collect();
        let mut pinned = pinned?;
        let parts = from.into_iter().zip(pinned.iter_mut().map(uninit)).collect();
        copy_to_host_scattered(parts)?;
        let node: Node<Buffer> = node.with_buffers(pinned.into_iter().map(into_arrow))?;
        Ok(make_array(node.into_host()?))
    }
}

fn uninit(pinned: &mut HostBuffer) -> &mut [MaybeUninit<u8>] {
    let bytes = pinned.as_mut_slice();
    // SAFETY: copies only write initialised bytes there.
    unsafe { slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), bytes.len()) }
}

fn into_arrow(pinned: HostBuffer) -> Buffer {
    let bytes = pinned.as_slice();
    let (start, size) = (NonNull::from(bytes).cast(), bytes.len());
    // A release does not panic.
    let owner = Arc::new(AssertUnwindSafe(pinned));
    // SAFETY: the owner has so many bytes there, which nobody writes to any more.
    unsafe { Buffer::from_custom_allocation(start, size, owner) }
}

/// The structure of an array of arrow-rs that lies in pinned memory, for consumers that have their device read it from
/// there.  It shares the memory until it is released.
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
/// # Safety
///
/// As [`DeviceArrayData::import`].
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
