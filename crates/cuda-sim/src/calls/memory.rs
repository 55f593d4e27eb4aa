//! Device memory.

use crate::border::Out;
use crate::code::{Answer, Code, INVALID_VALUE, NOT_FOUND};
use crate::context::Context;
use crate::driver::Driver;
use crate::gate::call;
use crate::handles::Handle;
use crate::region::{Kind, Region};
use crate::stack;

/// Gives free and total bytes of the current device.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemGetInfo_v2(free: Out<usize>, total: Out<usize>) -> Code {
    call(|driver| {
        let context = stack::current()?;
        let (free, total) = (free.place()?, total.place()?);
        let room = driver.memory().room(context.device);
        free.set(room.0 as usize);
        total.set(room.1 as usize);
        Ok(())
    })
}

/// Allocates `size` bytes.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemAlloc_v2(pointer: Out<u64>, size: usize) -> Code {
    call(|driver| {
        let context = stack::current()?;
        let pointer = pointer.place()?;
        let kind = Kind::Device { slot: None };
        pointer.set(driver.memory().allocate(context, size as u64, kind)?);
        Ok(())
    })
}

/// Allocates `size` bytes that the host may use too.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemAllocManaged(pointer: Out<u64>, size: usize, flags: u32) -> Code {
    call(|driver| {
        let context = stack::current()?;
        let pointer = pointer.place()?;
        if size == 0 || !matches!(flags, 1 | 2) {
            return Err(INVALID_VALUE);
        }
        let mut memory = driver.memory();
        pointer.set(memory.allocate_on_host(context, size as u64, Kind::Managed)?);
        Ok(())
    })
}

/// Frees device or managed memory when all work of the device is done; from any context or none.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemFree_v2(pointer: u64) -> Code {
    call(|driver| {
        check_top()?;
        if pointer == 0 {
            return Ok(());
        }
        let region = freeable(driver, pointer)?;
        region.context.healthy()?;
        // Also for other devices: a copy from or to one of them may be under way.
        driver.synchronize_all();
        let mut memory = driver.memory();
        // Another thread may have freed it meanwhile.
        if memory.regions.at(pointer).is_none_or(|now| now.id != region.id) {
            return Err(INVALID_VALUE);
        }
        memory.release(pointer);
        Ok(())
    })
}

/// Gives base and size of the allocation in which `pointer` lies.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemGetAddressRange_v2(base: Out<u64>, size: Out<usize>, pointer: u64) -> Code {
    call(|driver| {
        let context = stack::current()?;
        let memory = driver.memory();
        let region = memory.regions.containing(pointer);
        let region = region.filter(|region| region.is_reached_by(context)).ok_or(NOT_FOUND)?;
        if let Some(base) = base.optional() {
            base.set(region.base);
        }
        if let Some(size) = size.optional() {
            size.set(region.size as usize);
        }
        Ok(())
    })
}

/// Allocates in the order of a stream.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemAllocAsync(pointer: Out<u64>, size: usize, stream: Handle) -> Code {
    call(|driver| {
        stack::current()?;
        let pointer = pointer.place()?;
        let context = driver.stream(stream)?.context;
        let mut memory = driver.memory();
        pointer.set(memory.allocate(context, size as u64, Kind::Pool)?);
        Ok(())
    })
}

/// Frees in the order of a stream.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemFreeAsync(pointer: u64, stream: Handle) -> Code {
    call(|driver| {
        stack::current()?;
        let stream = driver.stream(stream)?;
        if pointer == 0 {
            return Ok(());
        }
        freeable(driver, pointer)?;
        if let Some(region) = driver.memory().regions.at_mut(pointer) {
            region.is_leaving = true;
        }
        stream.submit_quick(move || {
            driver.memory().release(pointer);
            Ok(())
        })?;
        Ok(())
    })
}

/// A call that needs no current context still fails when there is one that is not usable.
pub fn check_top() -> Answer {
    stack::top().map_or(Ok(()), Context::healthy)
}

/// The region at `pointer` if it is one that `cuMemFree` takes.
fn freeable(driver: &Driver, pointer: u64) -> Result<Region, Code> {
    let memory = driver.memory();
    let region = memory.regions.at(pointer).filter(|region| {
        !region.is_leaving && (region.is_device_allocation() || region.kind == Kind::Managed)
    });
    region.cloned().ok_or(INVALID_VALUE)
}
