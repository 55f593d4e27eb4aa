//! Foreign memory that was freed under its view.  The test is alone in its process, so that nothing
//! else gets the address meanwhile.

use arrow_cuda_buffer::{DeviceBuffer, Elements, copy_elements};
use arrow_cuda_context::Context;

#[test]
fn a_view_of_freed_memory_fails_and_does_not_crash() {
    let context = Context::primary(0).expect("a device");
    // A driver block of its own, which the driver frees at once.
    let memory = DeviceBuffer::allocate(&context, 4 << 20).expect("room");
    // SAFETY: the view is used only to show that the driver refuses it.
    let view = unsafe { DeviceBuffer::view(&context, memory.address(), 64, true, Box::new(())) };
    let view = view.expect("memory that is there");
    drop(memory);
    assert!(view.to_vec().is_err());
    assert!(view.copy_from_host(0, &[1]).is_err());
    let other = DeviceBuffer::allocate(&context, 64).expect("room");
    let freed = Elements { buffer: &view, offset: 0, strides: &[2] };
    let there = Elements { buffer: &other, offset: 0, strides: &[1] };
    assert!(copy_elements(freed, there, &[4], 1).is_err());
    assert!(copy_elements(there, freed, &[4], 1).is_err());
    context.synchronize().expect("still alive");
}
