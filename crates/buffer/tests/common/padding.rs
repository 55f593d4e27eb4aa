//! The bytes between buffers that were allocated together.

use arrow_cuda_buffer::DeviceBuffer;

/// The bytes of buffers of one allocation and of what lies between them.
pub fn with_padding(buffers: &[DeviceBuffer]) -> Vec<u8> {
    let (first, last) = (&buffers[0], &buffers[buffers.len() - 1]);
    let size = (last.private_address() - first.private_address()) as usize + last.len();
    let mut bytes = vec![0; size];
    let current = first.context().enter().expect("alive");
    // SAFETY: the segment reaches to the end of its last buffer, and is kept.
    unsafe { current.copy_to_host(bytes.as_mut_ptr(), first.private_address(), size) }
        .expect("alive");
    bytes
}
