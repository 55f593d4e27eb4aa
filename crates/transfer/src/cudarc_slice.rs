//! Pinned memory as `cudarc`'s copies take it.

use crate::HostBuffer;
use bytemuck::Pod;
use cudarc::driver::{CudaStream, HostSlice, SyncOnDrop};

/// `cudarc` copies from and to the buffer itself, as elements of any type.  Its calls return when the copy is complete:
/// what is behind a slice, `cudarc` takes for pageable memory, and lets a copy of it go on.
///
/// ```
/// use arrow_cuda_context::Context;
/// use arrow_cuda_transfer::HostBuffer;
///
/// let context = Context::primary(0)?;
/// let stream = context.to_cudarc()?.new_stream()?;
/// let numbers = stream.clone_htod(&[1u16, 2])?;
/// let mut pinned = HostBuffer::allocate(&context, 4)?;
/// stream.memcpy_dtoh(&numbers, &mut pinned)?;
/// assert_eq!(pinned.as_slice(), [1, 0, 2, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
///
/// When the memory is not a whole number of such elements, or not aligned for them.
impl<T: Pod> HostSlice<T> for HostBuffer {
    fn len(&self) -> usize {
        bytemuck::cast_slice::<u8, T>(self.as_slice()).len()
    }

    unsafe fn stream_synced_slice<'a>(
        &'a self,
        stream: &'a CudaStream,
    ) -> (&'a [T], SyncOnDrop<'a>) {
        (bytemuck::cast_slice(self.as_slice()), SyncOnDrop::sync_stream(stream))
    }

    unsafe fn stream_synced_mut_slice<'a>(
        &'a mut self,
        stream: &'a CudaStream,
    ) -> (&'a mut [T], SyncOnDrop<'a>) {
        (bytemuck::cast_slice_mut(self.as_mut_slice()), SyncOnDrop::sync_stream(stream))
    }
}
