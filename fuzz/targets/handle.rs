//! The bytes that identify device memory to another process.
#![no_main]

use arrow_cuda_ipc::IpcMemHandle;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(handle) = IpcMemHandle::from_bytes(bytes) else { return };
    assert!(i64::try_from(handle.size()).is_ok());
    assert_eq!(handle.size() == 0, handle.allocation().is_none());
    let again = IpcMemHandle::from_bytes(&handle.to_bytes());
    assert_eq!(again, Ok(handle));
});
