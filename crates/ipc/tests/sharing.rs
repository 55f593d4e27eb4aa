//! Device memory that is lent to another process, which is this test binary again.

#[path = "common/importer.rs"]
mod importer;

use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::{Context, Ready, block_at};
use arrow_cuda_ipc::{IpcMemHandle, export, lend, open};
use importer::import;
use rstest::rstest;

fn context() -> Context {
    Context::primary(0).expect("a device")
}

#[test]
fn lent_memory_is_released_with_its_buffer() {
    let context = context();
    let buffer = DeviceBuffer::allocate(&context, 4 << 20).expect("room");
    buffer.slice(..4).expect("within").copy_from_host(b"lent").expect("a copy");
    let part = buffer.slice_with_length(0, 4).expect("within");
    let handle = lend(&part).expect("exportable");
    assert!(import(&handle).contains("content: [108, 101, 110, 116]"));
    let address = buffer.address(&Ready::by_caller());
    assert!(block_at(address, address).is_some());
    drop(buffer);
    assert!(block_at(address, address).is_some(), "the slice keeps it");
    drop(part);
    assert!(block_at(address, address).is_none());
    assert!(import(&handle).contains("the process that exported the memory has released it"));

    let exported = DeviceBuffer::allocate(&context, 4 << 20).expect("room");
    lend(&exported).expect("exportable");
    export(&exported).expect("exportable");
    lend(&exported).expect("exportable");
    let address = exported.address(&Ready::by_caller());
    drop(exported);
    assert!(block_at(address, address).is_some(), "exported memory stays allocated");
}

#[test]
fn a_handle_of_this_process_is_refused_with_what_to_do() {
    let buffer = DeviceBuffer::allocate(&context(), 16).expect("room");
    let error = open(&context(), &export(&buffer).expect("exportable")).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("Cuda error 201 in function 'cuIpcOpenMemHandle': "), "{text}");
    assert!(text.ends_with("or open the handle in another process"), "{text}");
}

#[rstest]
#[case::within_the_allocations_handle(71, None)]
#[case::without_an_offset(72, Some(0))]
#[case::with_a_byte_of_the_offset(73, None)]
#[case::without_the_last_byte(79, None)]
#[case::whole(80, Some(1))]
#[case::with_a_byte_too_many(81, None)]
#[case::with_more_than_is_known(96, None)]
fn a_handle_of_another_length_is_refused(#[case] length: usize, #[case] offset: Option<usize>) {
    let bytes = [&[1; 72][..], &1_u64.to_ne_bytes(), &[0; 16]].concat();
    let handle = IpcMemHandle::from_bytes(&bytes[..length]);
    let found = handle.ok().and_then(|handle| Some(handle.allocation()?.1));
    assert_eq!(found, offset);
}

#[rstest]
fn a_handle_of_no_bytes_has_the_size_alone_or_all(
    #[values(0, 7, 8, 9, 71, 72, 79, 80, 81)] length: usize,
) {
    let handle = IpcMemHandle::from_bytes(&[0; 81][..length]);
    assert_eq!(handle.is_ok_and(|handle| handle.size() == 0), [8, 72, 80].contains(&length));
}
