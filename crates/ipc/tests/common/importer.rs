//! A process that opens a handle, which is the test binary again.

#[path = "../../../driver/tests/common/again.rs"]
mod again;
#[path = "../../../context/tests/common/mod.rs"]
mod common;

use again::{again, printed};
use arrow_cuda_context::{Context, Stream};
use arrow_cuda_ipc::{IpcMemHandle, open};
use common::{Gate, destroy, their_context};

const HANDLE: &str = "TEST_IPC_HANDLE";

/// The output of a process that opens the handle.
pub fn import(handle: &IpcMemHandle) -> String {
    let bytes: Vec<String> = handle.to_bytes().iter().map(u8::to_string).collect();
    printed(again("importer::importer").env(HANDLE, bytes.join(",")))
}

#[test]
#[ignore = "run by the other tests, in a process of its own"]
fn importer() {
    let text = std::env::var(HANDLE).expect("the handle");
    let bytes: Vec<u8> = text.split(',').map(|byte| byte.parse().expect("a byte")).collect();
    let handle = IpcMemHandle::from_bytes(&bytes).expect("a handle");
    let buffer = match open(&Context::primary(0).expect("a device"), &handle) {
        Ok(buffer) => buffer,
        Err(error) => return println!("refused: {error}"),
    };
    println!("content: {:?}", buffer.to_vec().expect("a copy"));
    // Work of another context may use the memory as long as it is mapped.
    let (theirs, context) = their_context();
    let stream = Stream::non_blocking(&theirs).expect("room");
    let opened = Gate::on(&stream).open_soon();
    drop(buffer);
    assert!(stream.is_complete().expect("alive"), "it was unmapped while it might be used");
    opened.join().expect("in time");
    destroy(context);
}
