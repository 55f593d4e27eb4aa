//! Virtual memory management: chunks of device memory, and the addresses at which they are mapped.

use crate::base::code::{INVALID_DEVICE, INVALID_VALUE, Result};
use crate::contexts::stack;
use crate::driver::Driver;
use crate::entry::{Out, exported};
use crate::memory::BLOCK;

/// `CUmemAllocationProp`: pinned memory, no handles for other processes, and a device.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Properties {
    kind: i32,
    handle_types: i32,
    location: Location,
    rest: [u64; 2],
}

impl Properties {
    /// Whether they are those of pinned memory of the host, of any of its nodes.
    pub(super) fn is_of_host(self) -> bool {
        let is_plain = self.kind == PINNED && self.handle_types == 0;
        is_plain && matches!(self.location.kind, ON_HOST | ON_NODE)
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Location {
    pub(super) kind: i32,
    pub(super) device: i32,
}

/// `CUmemAccessDesc`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Access {
    pub(super) location: Location,
    pub(super) flags: i32,
}

const PINNED: i32 = 1;
pub(super) const ON_DEVICE: i32 = 1;
const ON_HOST: i32 = 2;
const ON_NODE: i32 = 3;
pub(super) const READ_WRITE: i32 = 3;

exported! { driver:
    [10020] call cuMemGetAllocationGranularity(
        granularity: Out<usize>,
        properties: *const Properties,
        option: i32,
    ) {
        device_of(driver, properties)?;
        if !matches!(option, 0 | 1) {
            return Err(INVALID_VALUE);
        }
        granularity.required()?.set(BLOCK as usize);
    }

    /// Reserves addresses; a wanted one is not respected.
    [10020] call cuMemAddressReserve(
        address: Out<u64>,
        size: usize,
        alignment: usize,
        _wanted: u64,
        flags: u64,
    ) {
        let address = address.required()?;
        if flags != 0 || alignment as u64 > BLOCK {
            return Err(INVALID_VALUE);
        }
        let device = stack::current()?.device;
        address.set(driver.memory().reserve(device, size as u64)?);
    }

    /// Gives a whole range back, in which nothing is mapped.
    [10020] call cuMemAddressFree(address: u64, size: usize) {
        driver.memory().unreserve(address, size as u64)?;
    }

    [10020] call cuMemCreate(
        handle: Out<u64>,
        size: usize,
        properties: *const Properties,
        flags: u64,
    ) {
        let handle = handle.required()?;
        let device = device_of(driver, properties)?;
        if flags != 0 {
            return Err(INVALID_VALUE);
        }
        handle.set(driver.memory().create_chunk(device, size as u64)?);
    }

    [10020] call cuMemRelease(handle: u64) {
        driver.memory().release_chunk(handle)?;
    }

    [10020] call cuMemMap(address: u64, size: usize, offset: usize, handle: u64, flags: u64) {
        let context = stack::current()?;
        if offset != 0 || flags != 0 {
            return Err(INVALID_VALUE);
        }
        driver.memory().map_chunk(context, (address, size as u64), handle)?;
    }

    /// Ends mappings at once, whatever uses them.
    [10020] call cuMemUnmap(address: u64, size: usize) {
        driver.memory().unmap_chunks(address, size as u64)?;
    }

    [10020] call cuMemSetAccess(address: u64, size: usize, access: *const Access, count: usize) {
        for number in 0..count {
            // SAFETY: the caller passes `count` descriptions.
            let Access { location, flags } = unsafe { access.add(number).read_unaligned() };
            if location.kind != ON_DEVICE || flags != READ_WRITE {
                return Err(INVALID_VALUE);
            }
            let device = driver.ordinal(location.device)?;
            driver.memory().set_access(address, size as u64, device)?;
        }
    }
}

/// The device of properties that the simulator understands.
fn device_of(driver: &Driver, properties: *const Properties) -> Result<usize> {
    if properties.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: the caller passes properties.
    let properties = unsafe { properties.read_unaligned() };
    if properties.kind != PINNED
        || properties.handle_types != 0
        || properties.location.kind != ON_DEVICE
    {
        return Err(INVALID_VALUE);
    }
    driver.ordinal(properties.location.device).map_err(|_| INVALID_DEVICE)
}
