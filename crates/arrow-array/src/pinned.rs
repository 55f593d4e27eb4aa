//! Arrays in pinned host memory, to and from which copies are fastest.

use crate::node::Node;
use crate::{DeviceArray, Error};
use arrow_array::{ArrayRef, make_array};
use arrow_buffer::Buffer;
use arrow_cuda_buffer::copy_to_host_scattered;
use arrow_cuda_layout::Reads;
use arrow_cuda_transfer::HostBuffer;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;

impl DeviceArray {
    /// Copies the array to pinned host memory, and validates it there.  A slice is copied on the device before, to what
    /// it reaches; what views, list views and dense unions lead to stays whole.
    ///
    /// An array of arrow-rs whose buffers lie in pinned memory is copied to a device, and exported by
    /// [`export_pinned`](crate::c_device::export_pinned), without another copy on the host.
    ///
    /// ```
    /// use arrow_array::{Array, Int64Array};
    /// use arrow_cuda_array::{DeviceArray, c_device};
    /// use arrow_cuda_context::Context;
    ///
    /// let context = Context::primary(0)?;
    /// let numbers = Int64Array::from(vec![1, 2, 3]);
    /// let there = DeviceArray::from_host(&context, &numbers)?;
    /// let pinned = there.to_pinned_array()?;
    /// assert_eq!(pinned.to_data(), numbers.to_data());
    /// let structure = c_device::export_pinned(&context, &pinned)?;
    /// assert_eq!(structure.device_type, c_device::CUDA_HOST);
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`to_host`](Self::to_host), and driver errors when it cannot pin that much memory.
    pub fn to_pinned_array(&self) -> Result<ArrayRef, Error> {
        let mut is_sliced = false;
        self.node.visit(&mut |node| is_sliced |= node.offset > 0);
        if is_sliced {
            // arrow-rs would move the bits of a slice to the first byte, and to memory that is not pinned.
            return Self::concat(slice::from_ref(self))?.to_pinned_array();
        }
        let node = self.node.trim(Reads::None)?.node;
        let from = node.all_buffers();
        let allocate = |size| HostBuffer::allocate(self.context(), size);
        let pinned: Result<Vec<_>, _> = from.iter().map(|buffer| allocate(buffer.len())).collect();
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
    let owner = Arc::new(pinned);
    // SAFETY: the owner has `size` bytes there, which nobody writes to any more.
    unsafe { Buffer::from_custom_allocation(start, size, owner) }
}
