//! Device memory.

use crate::base::code::{Code, INVALID_VALUE, NOT_FOUND, Result};
use crate::base::handles::Handle;
use crate::contexts::stack;
use crate::driver::Driver;
use crate::entry::call::call;
use crate::entry::out::Out;
use crate::memory::region::{Kind, Region};

/// Returns the free and the total bytes of the current device.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemGetInfo_v2(free: Out<usize>, total: Out<usize>) -> Code {
    call(|driver| {
        let context = stack::current()?;
        let (free, total) = (free.required()?, total.required()?);
        let (free_bytes, total_bytes) = driver.memory().free_and_total(context.device);
        free.set(free_bytes as usize);
        total.set(total_bytes as usize);
        Ok(())
    })
}

/// Allocates `size` bytes.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemAlloc_v2(pointer: Out<u64>, size: usize) -> Code {
    call(|driver| {
        let context = stack::current()?;
        let pointer = pointer.required()?;
        let kind = Kind::Device { export: None };
        pointer.set(driver.memory().allocate(context, size as u64, kind)?);
        Ok(())
    })
}

/// Allocates `size` bytes that the host can use too.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemAllocManaged(pointer: Out<u64>, size: usize, flags: u32) -> Code {
    call(|driver| {
        let context = stack::current()?;
        let pointer = pointer.required()?;
        if size == 0 || !matches!(flags, 1 | 2) {
            return Err(INVALID_VALUE);
        }
        let mut memory = driver.memory();
        pointer.set(memory.allocate_on_host(context, size as u64, Kind::Managed)?);
        Ok(())
    })
}

/// Frees device memory when all work queued on its device is done, and managed memory when all work is.
/// It needs no current context.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemFree_v2(pointer: u64) -> Code {
    call(|driver| {
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
        let mut memory = driver.memory();
        // Another thread may have freed it meanwhile.
        if memory.regions.at(pointer).is_none_or(|now| now.id != region.id) {
            return Err(INVALID_VALUE);
        }
        memory.release(pointer);
        Ok(())
    })
}

/// Returns base and size of the allocation in which `pointer` lies.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemGetAddressRange_v2(base: Out<u64>, size: Out<usize>, pointer: u64) -> Code {
    call(|driver| {
        let context = stack::current()?;
        let memory = driver.memory();
        let region = memory.regions.containing(pointer);
        let region = region.filter(|region| region.is_accessible_from(context)).ok_or(NOT_FOUND)?;
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
        let pointer = pointer.required()?;
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
            region.is_being_freed = true;
        }
        stream.submit_or_run(move || {
            driver.memory().release(pointer);
            Ok(())
        })?;
        Ok(())
    })
}

/// The region that starts at `pointer`, if `cuMemFree` can free it.
fn freeable(driver: &Driver, pointer: u64) -> Result<Region> {
    let memory = driver.memory();
    let region = memory.regions.at(pointer).filter(|region| {
        !region.is_being_freed && (region.is_device_allocation() || region.kind == Kind::Managed)
    });
    region.cloned().ok_or(INVALID_VALUE)
}
