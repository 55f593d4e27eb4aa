//! Device memory between processes.  The importer is this test binary again.

use arrow_cuda_buffer::{DeviceBuffer, Error as BufferError};
use arrow_cuda_context::{Context, block_at};
use arrow_cuda_ipc::{Error, IpcMemHandle, export, lend, open};
use std::process::Command;

const HANDLE: &str = "TEST_IPC_HANDLE";

fn context() -> Context {
    Context::primary(0).expect("a device")
}

/// The output of a process that opens the handle.
fn import(handle: &IpcMemHandle) -> String {
    let bytes: Vec<String> = handle.to_bytes().iter().map(u8::to_string).collect();
    let output = Command::new(std::env::current_exe().expect("a test binary"))
        .args(["--exact", "importer", "--nocapture", "--ignored"])
        .env(HANDLE, bytes.join(","))
        .output()
        .expect("the test binary runs");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
#[ignore = "run by the other tests, in a process of its own"]
fn importer() {
    let bytes: Vec<u8> = std::env::var(HANDLE)
        .expect("the handle")
        .split(',')
        .map(|byte| byte.parse().expect("a byte"))
        .collect();
    let handle = IpcMemHandle::from_bytes(&bytes).expect("a handle");
    let buffer = match open(&context(), &handle) {
        Ok(buffer) => buffer,
        Err(error) => return println!("refused: {error}"),
    };
    println!("content: {:?}", buffer.to_vec().expect("a copy"));
    let again = open(&context(), &handle).expect("mapped already");
    assert_eq!(again.address(), buffer.address());
    drop(buffer);
    assert_eq!(again.to_vec().expect("still mapped").len() as u64, handle.size());
    assert_eq!(export(&again), Err(Error::AlreadyExported));
    assert_eq!(export(&again.slice(0, 0).expect("within")), Err(Error::AlreadyExported));
    if !again.is_empty() {
        again.copy_from_host(0, &[99]).expect("a copy");
    }
    assert_eq!(context().bytes_allocated().expect("alive"), 0);
}

#[test]
fn another_process_sees_and_changes_the_bytes() {
    let buffer = DeviceBuffer::allocate(&context(), 10).expect("room");
    buffer.copy_from_host(0, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]).expect("a copy");
    let handle = export(&buffer).expect("exportable");
    assert_eq!(handle.to_bytes().len(), 72);
    assert!(import(&handle).contains("content: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"));
    assert_eq!(buffer.to_vec().expect("a copy")[0], 99);
    buffer.copy_from_host(9, &[42]).expect("a copy");
    assert!(import(&handle).contains("content: [99, 2, 3, 4, 5, 6, 7, 8, 9, 42]"));

    let slice = buffer.slice(3, 4).expect("within");
    assert!(import(&export(&slice).expect("exportable")).contains("content: [4, 5, 6, 7]"));
}

#[test]
fn lent_memory_is_released_with_its_buffer() {
    let context = context();
    let buffer = DeviceBuffer::allocate(&context, 4 << 20).expect("room");
    buffer.copy_from_host(0, b"lent").expect("a copy");
    let part = buffer.slice(0, 4).expect("within");
    let handle = lend(&part).expect("exportable");
    assert!(import(&handle).contains("content: [108, 101, 110, 116]"));
    let address = buffer.address();
    assert!(block_at(address, address).is_some());
    drop(buffer);
    assert!(block_at(address, address).is_some(), "the slice keeps it");
    drop(part);
    assert!(block_at(address, address).is_none());
    assert!(import(&handle).contains("refused"));

    let exported = DeviceBuffer::allocate(&context, 4 << 20).expect("room");
    lend(&exported).expect("exportable");
    export(&exported).expect("exportable");
    lend(&exported).expect("exportable");
    let address = exported.address();
    drop(exported);
    assert!(block_at(address, address).is_some(), "exported memory stays allocated");
}

#[test]
fn memory_of_no_bytes_can_be_exported() {
    let buffer = DeviceBuffer::allocate(&context(), 0).expect("nothing to allocate");
    let handle = export(&buffer).expect("exportable");
    assert!(import(&handle).contains("content: []"));
}

#[test]
fn a_handle_beyond_its_allocation_is_refused() {
    let buffer = DeviceBuffer::allocate(&context(), 4 << 20).expect("room");
    let mut bytes = export(&buffer).expect("exportable").to_bytes();
    bytes[..8].copy_from_slice(&((4i64 << 20) + 1).to_ne_bytes());
    let handle = IpcMemHandle::from_bytes(&bytes).expect("a handle");
    assert!(import(&handle).contains("refused: the IPC handle names 4194305 bytes"));
}

#[test]
fn the_driver_refuses_garbage_and_own_handles() {
    let garbage = IpcMemHandle::from_bytes(&[1; 72]).expect("a handle, of a wild size");
    assert!(matches!(open(&context(), &garbage), Err(Error::Buffer(BufferError::Cuda(_)))));
    let buffer = DeviceBuffer::allocate(&context(), 10).expect("room");
    let handle = export(&buffer).expect("exportable");
    let Err(Error::Buffer(BufferError::Cuda(error))) = open(&context(), &handle) else {
        panic!("opened its own handle");
    };
    assert_eq!(error.code(), Some(201));
}
