//! Page-locked host memory.

use crate::base::can_be_pinned;
use crate::base::code::{
    HOST_MEMORY_ALREADY_REGISTERED, HOST_MEMORY_NOT_REGISTERED, INVALID_VALUE, Result,
};
use crate::contexts::stack;
use crate::driver::Driver;
use crate::entry::{Out, exported};
use crate::memory::Kind;
use crate::work::capture;

/// Portable, mapped and write-combined.
const ALLOC_FLAGS: u32 = 7;
/// Portable, mapped, memory of a device, read-only.
const REGISTER_FLAGS: u32 = 15;
const READ_ONLY: u32 = 8;
const PAGE: u64 = 4096;

exported! { driver:
    /// Allocates page-locked memory; returns null for a size of 0.
    [2020] call cuMemHostAlloc(pointer: Out<usize>, size: usize, flags: u32) {
        stack::await_copy();
        allocate(driver, pointer, size, flags)?;
    }

    /// Allocates page-locked memory without flags.
    [3020] call cuMemAllocHost_v2(pointer: Out<usize>, size: usize) {
        allocate(driver, pointer, size, 0)?;
    }

    /// Frees page-locked memory when the work of its context is done, whoever else uses it.  It needs no current
    /// context.
    [2000] call cuMemFreeHost(pointer: usize) {
        capture::refuse_unsafe()?;
        stack::check_top()?;
        if pointer == 0 {
            return Ok(());
        }
        end_when_idle(driver, pointer as u64, |kind| *kind == Kind::Pinned)?;
    }

    /// Returns the device's address of page-locked memory, which is the same as the host's.
    [3020] call cuMemHostGetDevicePointer_v2(pointer: Out<u64>, host: usize, flags: u32) {
        stack::current()?;
        let pointer = pointer.required()?;
        let memory = driver.memory();
        let region = memory.containing(host as u64);
        // Not for memory of pools, as on an H200.
        let is_known = region
            .is_some_and(|it| it.is_on_host() && !matches!(it.kind, Kind::HostPool { .. }));
        if flags != 0 || !is_known {
            return Err(INVALID_VALUE);
        }
        pointer.set(host as u64);
    }

    /// Pins the caller's memory, none of which may be pinned already.
    [6050] call cuMemHostRegister_v2(host: usize, size: usize, flags: u32) {
        capture::refuse_unsafe()?;
        stack::await_copy();
        let context = stack::current()?;
        let (base, size) = (host as u64, size as u64);
        let mut memory = driver.memory();
        let fits = base.checked_add(size).is_some() && !memory.is_device_address(base, size);
        if host == 0 || size == 0 || flags & !REGISTER_FLAGS != 0 || !fits {
            return Err(INVALID_VALUE);
        }
        let last = memory.regions.range(..base + size).next_back();
        if last.is_some_and(|(_, region)| region.end() > base) {
            return Err(HOST_MEMORY_ALREADY_REGISTERED);
        }
        // Whole pages are pinned, for any number of ranges that share one.
        let pages = base - base % PAGE..(base + size).next_multiple_of(PAGE);
        let is_read_only = flags & READ_ONLY != 0;
        if !can_be_pinned(&pages, !is_read_only) {
            return Err(INVALID_VALUE);
        }
        memory.add(context, context.device, base, size, Kind::Registered { is_read_only });
    }

    /// Unregisters memory when the work of its context is done, whoever else uses it.
    [4000] call cuMemHostUnregister(host: usize) {
        capture::refuse_unsafe()?;
        stack::check_top()?;
        let base = host as u64;
        if driver.memory().containing(base).is_none() {
            return Err(HOST_MEMORY_NOT_REGISTERED);
        }
        end_when_idle(driver, base, |kind| matches!(kind, Kind::Registered { .. }))?;
    }
}

fn allocate(driver: &Driver, pointer: Out<usize>, size: usize, flags: u32) -> Result {
    capture::refuse_unsafe()?;
    driver.unmap_retired();
    let context = stack::current()?;
    let pointer = pointer.required()?;
    if flags & !ALLOC_FLAGS != 0 {
        return Err(INVALID_VALUE);
    }
    pointer.set(match size {
        0 => 0,
        _ => {
            let mut memory = driver.memory();
            memory.allocate_on_host(context, size as u64, Kind::Pinned)? as usize
        }
    });
    Ok(())
}

/// Ends the region of this kind that starts at `base`, when the work of its context is done.  Work of other contexts
/// that uses it finds it invalid, as on an H200.
fn end_when_idle(driver: &Driver, base: u64, is_of_kind: impl Fn(&Kind) -> bool) -> Result {
    let found = driver.memory().regions.get(&base).cloned();
    let region = found.filter(|region| is_of_kind(&region.kind)).ok_or(INVALID_VALUE)?;
    region.context.synchronize();
    driver.memory().release_found(&region)?;
    driver.unmap_retired();
    Ok(())
}
