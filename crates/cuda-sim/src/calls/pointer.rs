//! Queries of pointers.

use std::ffi::c_void;

use crate::base::code::{INVALID_VALUE, Result};
use crate::contexts::{Context, stack};
use crate::entry::exported;
use crate::memory::{Kind, Memory, Region};

const CONTEXT: i32 = 1;
const MEMORY_TYPE: i32 = 2;
const DEVICE_POINTER: i32 = 3;
const HOST_POINTER: i32 = 4;
const SYNC_MEMOPS: i32 = 6;
const BUFFER_ID: i32 = 7;
const IS_MANAGED: i32 = 8;
const DEVICE_ORDINAL: i32 = 9;
const IS_IPC_CAPABLE: i32 = 10;
const RANGE_START: i32 = 11;
const RANGE_SIZE: i32 = 12;
const MAPPED: i32 = 13;
const ALLOWED_HANDLE_TYPES: i32 = 14;
const ACCESS_FLAGS: i32 = 16;

const TYPE_HOST: u64 = 1;
const TYPE_DEVICE: u64 = 2;
const ACCESS_READ_WRITE: u64 = 3;
/// The device number of memory that the driver does not know.
const NO_DEVICE: u64 = -2_i64 as u64;

exported! { driver:
    /// Returns one attribute of memory that the driver knows.
    [4000] call cuPointerGetAttribute(data: *mut c_void, attribute: i32, pointer: u64) {
        let context = stack::current()?;
        let memory = driver.memory();
        let region = known(&memory, context, pointer).ok_or(INVALID_VALUE)?;
        let value = value_of(&memory, context, region, attribute, pointer).ok_or(INVALID_VALUE)?;
        write(data, attribute, value)?;
    }

    /// Returns several attributes; their defaults for memory that the driver does not know.
    [7000] call cuPointerGetAttributes(
        count: u32,
        attributes: *const i32,
        data: *const *mut c_void,
        pointer: u64,
    ) {
        let context = stack::current()?;
        if count == 0 || attributes.is_null() || data.is_null() {
            return Err(INVALID_VALUE);
        }
        let memory = driver.memory();
        let region = known(&memory, context, pointer);
        for index in 0..count as usize {
            // SAFETY: the caller passes `count` attributes and as many pointers for their values.
            let (attribute, target) =
                unsafe { (attributes.add(index).read(), data.add(index).read()) };
            let value = region
                .and_then(|region| value_of(&memory, context, region, attribute, pointer));
            let default = if attribute == DEVICE_ORDINAL { NO_DEVICE } else { 0 };
            write(target, attribute, value.unwrap_or(default))?;
        }
    }
}

/// The region of an address that queries of a context find.  Those of pools on the host they find without access.
fn known<'a>(memory: &'a Memory, context: &Context, pointer: u64) -> Option<&'a Region> {
    let is_known = |region: &&Region| {
        region.is_accessible_from(context) || matches!(region.kind, Kind::HostPool { .. })
    };
    memory.containing(pointer).filter(is_known)
}

/// Writes a value in the width that the interface defines for the attribute.
fn write(target: *mut c_void, attribute: i32, value: u64) -> Result {
    if target.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: the caller passes a pointer to a value of the attribute's width.
    unsafe {
        match attribute {
            CONTEXT | DEVICE_POINTER | HOST_POINTER | BUFFER_ID | RANGE_START | RANGE_SIZE => {
                target.cast::<u64>().write_unaligned(value);
            }
            MEMORY_TYPE | SYNC_MEMOPS | IS_MANAGED | DEVICE_ORDINAL | IS_IPC_CAPABLE | MAPPED
            | ALLOWED_HANDLE_TYPES | ACCESS_FLAGS => {
                target.cast::<u32>().write_unaligned(value as u32);
            }
            _ => return Err(INVALID_VALUE),
        }
    }
    Ok(())
}

/// `None` for an attribute that this memory does not have.
fn value_of(
    memory: &Memory,
    context: &Context,
    region: &Region,
    attribute: i32,
    pointer: u64,
) -> Option<u64> {
    // Of mapped memory, the whole range that was reserved, as on an H200.
    let (start, size) = memory.reservation(pointer).unwrap_or((region.base, region.size));
    let is_own_device = matches!(region.kind, Kind::Device { .. });
    // Memory of a pool on the host has no context and no start, as on an H200.
    let is_of_host_pool = matches!(region.kind, Kind::HostPool { .. });
    Some(match attribute {
        CONTEXT | RANGE_START if is_of_host_pool => 0,
        CONTEXT => region.context.handle() as u64,
        MEMORY_TYPE if region.is_pinned() => TYPE_HOST,
        MEMORY_TYPE => TYPE_DEVICE,
        DEVICE_POINTER if !region.is_accessible_from(context) => return None,
        DEVICE_POINTER => pointer,
        HOST_POINTER if region.is_on_host() => pointer,
        SYNC_MEMOPS | ALLOWED_HANDLE_TYPES => 0,
        BUFFER_ID => region.id,
        IS_MANAGED => u64::from(region.kind == Kind::Managed),
        // Of imports, that of the context which opened them.
        DEVICE_ORDINAL => region.context.device as u64,
        IS_IPC_CAPABLE => u64::from(is_own_device),
        RANGE_START => start,
        RANGE_SIZE => size,
        MAPPED => 1,
        ACCESS_FLAGS => ACCESS_READ_WRITE,
        _ => return None,
    })
}
