//! Memory shared between processes.

use crate::base::code::{INVALID_CONTEXT, INVALID_VALUE};
use crate::contexts::stack;
use crate::entry::exported::exported;
use crate::entry::out::Out;
use crate::memory::ipc_handle::{HANDLE_BYTES, IpcHandle};
use crate::memory::region::Kind;

/// The only flag for opening, which must be given: peer access is enabled when it is needed.
const LAZY_PEER_ACCESS: u32 = 1;

/// A handle as the C interface passes it: 64 bytes by value.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MemHandle([u8; HANDLE_BYTES]);

exported! { driver:
    /// Exports the allocation in which `pointer` lies.
    [4010] call cuIpcGetMemHandle(handle: Out<MemHandle>, pointer: u64) {
        stack::current()?;
        let handle = handle.required()?;
        handle.set(MemHandle(driver.memory().export(pointer)?.to_bytes()));
    }

    /// Imports another process's allocation; each open needs a close.
    [11000] call cuIpcOpenMemHandle_v2(pointer: Out<u64>, handle: MemHandle, flags: u32) {
        let context = stack::current()?;
        let pointer = pointer.required()?;
        if flags != LAZY_PEER_ACCESS {
            return Err(INVALID_VALUE);
        }
        let handle = IpcHandle::from_bytes(&handle.0).ok_or(INVALID_VALUE)?;
        if handle.process == std::process::id() {
            return Err(INVALID_CONTEXT);
        }
        pointer.set(driver.memory().import(context, &handle)?);
    }

    /// Closes an import; the last close unmaps the memory when the device's work is done.
    [4010] call cuIpcCloseMemHandle(pointer: u64) {
        stack::current()?;
        let device = {
            let memory = driver.memory();
            let region = memory.regions.at(pointer).ok_or(INVALID_VALUE)?;
            if !matches!(region.kind, Kind::Imported { .. }) {
                return Err(INVALID_VALUE);
            }
            region.device
        };
        driver.devices[device].synchronize();
        let mut memory = driver.memory();
        if memory.count_open(pointer, -1).ok_or(INVALID_VALUE)? == 0 {
            memory.release(pointer);
        }
    }
}
