//! Memory that ends after its last byte, where other buffers have neighbours in the same segment.

use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::{Arrival, Context, Current};

/// An allocation that the driver itself has made.
struct Exact(Context, u64);

impl Drop for Exact {
    fn drop(&mut self) {
        // SAFETY: allocated in `upload`, whose buffer is gone.
        self.0.release("memory", |current| unsafe {
            current.release_memory(self.1, &self.0.await_users()?)
        });
    }
}

/// A buffer with these bytes.  A kernel that reaches beyond it fails on the simulator.
pub fn upload(context: &Context, bytes: &[u8]) -> DeviceBuffer {
    let size = bytes.len();
    if size == 0 {
        return DeviceBuffer::allocate(context, 0).expect("nothing to allocate");
    }
    let allocate = |current: Current<'_>| current.allocate_memory(size as u64);
    let address = context.enter().and_then(allocate).expect("room");
    let owner = Box::new(Exact(context.clone(), address));
    // SAFETY: the owner keeps the memory.
    let buffer =
        unsafe { DeviceBuffer::view(context, address, size, true, Arrival::complete(), owner) };
    let buffer = buffer.expect("memory of the driver");
    buffer.copy_from_host(bytes).expect("a copy");
    buffer
}
