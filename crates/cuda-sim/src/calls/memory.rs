//! Device memory, and memory shared between processes.

use crate::base::Handle;
use crate::base::code::{INVALID_CONTEXT, INVALID_VALUE, NOT_FOUND, Result};
use crate::contexts::stack;
use crate::driver::Driver;
use crate::entry::{Out, exported};
use crate::memory::{HANDLE_BYTES, IpcHandle, Kind, Region};
use crate::work::capture;

/// The only flag for opening, which must be given: peer access is enabled when it is needed.
const LAZY_PEER_ACCESS: u32 = 1;

/// A handle as the C interface passes it: 64 bytes by value.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MemHandle([u8; HANDLE_BYTES]);

exported! { driver:
    [3020] call cuMemGetInfo_v2(free: Out<usize>, total: Out<usize>) {
        let context = stack::current()?;
        let (free, total) = (free.required()?, total.required()?);
        let device = &driver.memory().devices[context.device];
        free.set(device.free_bytes() as usize);
        total.set(device.total as usize);
    }

    [3020] call cuMemAlloc_v2(pointer: Out<u64>, size: usize) {
        capture::refuse_unsafe()?;
        stack::await_copy();
        let context = stack::current()?;
        let pointer = pointer.required()?;
        let kind = Kind::Device { is_exported: false };
        pointer.set(driver.memory().allocate(context, size as u64, kind)?);
    }

    /// Allocates `size` bytes that the host can use too.
    [6000] call cuMemAllocManaged(pointer: Out<u64>, size: usize, flags: u32) {
        capture::refuse_unsafe()?;
        let context = stack::current()?;
        let pointer = pointer.required()?;
        if size == 0 || !matches!(flags, 1 | 2) {
            return Err(INVALID_VALUE);
        }
        let mut memory = driver.memory();
        pointer.set(memory.allocate_on_host(context, size as u64, Kind::Managed)?);
    }

    /// Frees device memory when all work queued on its device is done, and managed memory when all work is.
    /// It needs no current context.
    [3020] call cuMemFree_v2(pointer: u64) {
        capture::refuse_unsafe()?;
        stack::check_top()?;
        if pointer == 0 {
            return Ok(());
        }
        let region = freeable(driver, pointer)?;
        region.context.check()?;
        match region.is_on_host() {
            true => driver.synchronize(),
            // Work of other devices that uses the memory is not waited for, as on an H200.
            false => driver.devices[region.device].synchronize(),
        }
        driver.memory().release_found(&region)?;
    }

    [3020] call cuMemGetAddressRange_v2(base: Out<u64>, size: Out<usize>, pointer: u64) {
        let context = stack::current()?;
        let memory = driver.memory();
        let region = memory.containing(pointer);
        let region = region.filter(|region| region.is_accessible_from(context)).ok_or(NOT_FOUND)?;
        base.set_if_wanted(region.base);
        size.set_if_wanted(region.size as usize);
    }

    [11020, per_thread] call cuMemAllocAsync(pointer: Out<u64>, size: usize, stream: Handle) {
        stack::current()?;
        let pointer = pointer.required()?;
        let stream = driver.stream(stream)?;
        if !stream.captures()? {
            capture::refuse_unsafe()?;
        }
        let context = stream.context;
        let mut memory = driver.memory();
        pointer.set(memory.allocate(context, size as u64, Kind::Pool)?);
    }

    [11020, per_thread] call cuMemFreeAsync(pointer: u64, stream: Handle) {
        stack::current()?;
        let stream = driver.stream(stream)?;
        if pointer == 0 {
            return Ok(());
        }
        freeable(driver, pointer)?;
        if let Some(region) = driver.memory().regions.get_mut(&pointer) {
            region.is_being_freed = true;
        }
        stream.submit_or_run(move || {
            driver.memory().release(pointer);
            Ok(())
        })?;
    }

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

    /// Closes an import when all work queued on its device is done; the last close unmaps the memory.
    [4010] call cuIpcCloseMemHandle(pointer: u64) {
        stack::current()?;
        let device = {
            let memory = driver.memory();
            let region = memory.regions.get(&pointer).ok_or(INVALID_VALUE)?;
            if !matches!(region.kind, Kind::Imported { .. }) {
                return Err(INVALID_VALUE);
            }
            region.device
        };
        // As for `cuMemFree`.
        driver.devices[device].synchronize();
        let mut memory = driver.memory();
        if memory.count_open(pointer, -1).ok_or(INVALID_VALUE)? == 0 {
            memory.release(pointer);
        }
    }
}

/// The region that starts at `pointer`, if `cuMemFree` can free it.
fn freeable(driver: &Driver, pointer: u64) -> Result<Region> {
    let memory = driver.memory();
    let region = memory.regions.get(&pointer).filter(|region| {
        let is_of_pool = matches!(region.kind, Kind::HostPool { .. });
        let is_freeable = region.is_device_allocation() || region.kind == Kind::Managed;
        !region.is_being_freed && (is_freeable || is_of_pool)
    });
    region.cloned().ok_or(INVALID_VALUE)
}
