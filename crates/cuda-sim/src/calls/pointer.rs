//! Queries of pointers.

use std::ffi::c_void;

use crate::base::code::{INVALID_VALUE, Result};
use crate::contexts::stack;
use crate::entry::exported;
use crate::memory::{Kind, Region};

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

const TYPE_HOST: u32 = 1;
const TYPE_DEVICE: u32 = 2;
const ACCESS_READ_WRITE: u32 = 3;
/// The device number of memory that the driver does not know.
const NO_DEVICE: u32 = -2_i32 as u32;

/// An attribute's value, in the width that the interface defines.
enum Value {
    Long(u64),
    Int(u32),
}

exported! { driver:
    /// Returns one attribute of memory that the driver knows.
    [4000] call cuPointerGetAttribute(data: *mut c_void, attribute: i32, pointer: u64) {
        let context = stack::current()?;
        let memory = driver.memory();
        let region = memory.regions.containing(pointer);
        let region =
            region.filter(|region| region.is_accessible_from(context)).ok_or(INVALID_VALUE)?;
        let value = value_of(region, attribute, pointer).ok_or(INVALID_VALUE)?;
        write(data, &value)?;
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
        let region =
            memory.regions.containing(pointer).filter(|region| region.is_accessible_from(context));
        for index in 0..count as usize {
            // SAFETY: the caller passes `count` attributes and as many pointers for their values.
            let (attribute, target) =
                unsafe { (attributes.add(index).read(), data.add(index).read()) };
            let default = default_of(attribute).ok_or(INVALID_VALUE)?;
            let value = region.and_then(|region| value_of(region, attribute, pointer));
            write(target, &value.unwrap_or(default))?;
        }
    }
}

fn write(target: *mut c_void, value: &Value) -> Result {
    if target.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: the caller passes a pointer to a value of the attribute's width.
    unsafe {
        match *value {
            Value::Long(value) => target.cast::<u64>().write_unaligned(value),
            Value::Int(value) => target.cast::<u32>().write_unaligned(value),
        }
    }
    Ok(())
}

/// `None` for an attribute that this memory does not have.
fn value_of(region: &Region, attribute: i32, pointer: u64) -> Option<Value> {
    let is_own_device = matches!(region.kind, Kind::Device { .. });
    let is_pinned = matches!(region.kind, Kind::Pinned | Kind::Registered);
    Some(match attribute {
        CONTEXT => Value::Long(region.context.handle() as u64),
        MEMORY_TYPE => Value::Int(if is_pinned { TYPE_HOST } else { TYPE_DEVICE }),
        DEVICE_POINTER => Value::Long(pointer),
        HOST_POINTER if region.is_on_host() => Value::Long(pointer),
        SYNC_MEMOPS | ALLOWED_HANDLE_TYPES => Value::Int(0),
        BUFFER_ID => Value::Long(region.id),
        IS_MANAGED => Value::Int(u32::from(region.kind == Kind::Managed)),
        // Of imports, that of the context which opened them.
        DEVICE_ORDINAL => Value::Int(region.context.device as u32),
        IS_IPC_CAPABLE => Value::Int(u32::from(is_own_device)),
        RANGE_START => Value::Long(region.base),
        RANGE_SIZE => Value::Long(region.size),
        MAPPED => Value::Int(1),
        ACCESS_FLAGS => Value::Int(ACCESS_READ_WRITE),
        _ => return None,
    })
}

/// What `cuPointerGetAttributes` returns where `cuPointerGetAttribute` fails.
fn default_of(attribute: i32) -> Option<Value> {
    Some(match attribute {
        CONTEXT | DEVICE_POINTER | HOST_POINTER | BUFFER_ID | RANGE_START | RANGE_SIZE => {
            Value::Long(0)
        }
        DEVICE_ORDINAL => Value::Int(NO_DEVICE),
        MEMORY_TYPE | SYNC_MEMOPS | IS_MANAGED | IS_IPC_CAPABLE | MAPPED | ALLOWED_HANDLE_TYPES
        | ACCESS_FLAGS => Value::Int(0),
        _ => return None,
    })
}
