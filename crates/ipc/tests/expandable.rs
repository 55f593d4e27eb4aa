//! Memory that no other process can map.  The setting is the process's, so this test has one of its own.

use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::{Context, set_expandable_segments};
use arrow_cuda_ipc::{Error, export, lend};

#[test]
fn memory_of_an_expandable_segment_is_refused_and_a_copy_is_not() {
    let context = Context::primary(0).expect("a device");
    set_expandable_segments(true);
    let buffer = DeviceBuffer::allocate(&context, 4 << 20).expect("room");
    set_expandable_segments(false);
    assert_eq!(export(&buffer).expect_err("in chunks"), Error::Expandable);
    assert_eq!(lend(&buffer).expect_err("in chunks"), Error::Expandable);
    lend(&DeviceBuffer::allocate(&context, 4 << 20).expect("room")).expect("exportable");
}
