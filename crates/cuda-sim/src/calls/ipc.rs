//! Memory shared between processes.

use crate::border::Out;
use crate::code::{Code, INVALID_CONTEXT, INVALID_VALUE};
use crate::gate::call;
use crate::ipc_handle::{HANDLE_BYTES, IpcHandle};
use crate::region::Kind;
use crate::stack;

/// The one flag of opening, which must be given: peer access is enabled when needed.
const LAZY_PEER_ACCESS: u32 = 1;

/// A handle as the C interface passes it: 64 bytes by value.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MemHandle([u8; HANDLE_BYTES]);

/// Gives the handle of the allocation in which `pointer` lies.
#[unsafe(no_mangle)]
pub extern "C" fn cuIpcGetMemHandle(handle: Out<MemHandle>, pointer: u64) -> Code {
    call(|driver| {
        stack::current()?;
        let handle = handle.place()?;
        handle.set(MemHandle(driver.memory().export(pointer)?.to_bytes()));
        Ok(())
    })
}

/// Maps another process's allocation; each open wants a close.
#[unsafe(no_mangle)]
pub extern "C" fn cuIpcOpenMemHandle_v2(pointer: Out<u64>, handle: MemHandle, flags: u32) -> Code {
    call(|driver| {
        let context = stack::current()?;
        let pointer = pointer.place()?;
        if flags != LAZY_PEER_ACCESS {
            return Err(INVALID_VALUE);
        }
        let handle = IpcHandle::from_bytes(&handle.0).ok_or(INVALID_VALUE)?;
        if handle.process == std::process::id() {
            return Err(INVALID_CONTEXT);
        }
        pointer.set(driver.memory().import(context, &handle)?);
        Ok(())
    })
}

/// Takes one open back; the last one unmaps the memory when the device's work is done.
#[unsafe(no_mangle)]
pub extern "C" fn cuIpcCloseMemHandle(pointer: u64) -> Code {
    call(|driver| {
        stack::current()?;
        let device = {
            let memory = driver.memory();
            let region = memory.regions.at(pointer).ok_or(INVALID_VALUE)?;
            if !matches!(region.kind, Kind::Imported { .. }) {
                return Err(INVALID_VALUE);
            }
            region.device
        };
        driver.synchronize(device);
        let mut memory = driver.memory();
        if memory.count_open(pointer, -1).ok_or(INVALID_VALUE)? == 0 {
            memory.release(pointer);
        }
        Ok(())
    })
}
