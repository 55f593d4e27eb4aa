//! Memory pools of the host, whose memory devices access only once they are allowed to.

use super::chunks::{Access, ON_DEVICE, Properties, READ_WRITE};
use crate::base::Handle;
use crate::base::code::{INVALID_VALUE, Result};
use crate::contexts::stack;
use crate::driver::Driver;
use crate::entry::{Out, exported};

exported! { driver:
    /// Makes a pool of page-locked memory; those of devices are not simulated.
    [11020] call cuMemPoolCreate(pool: Out<u64>, properties: *const Properties) {
        let pool = pool.required()?;
        stack::check_top()?;
        if properties.is_null() {
            return Err(INVALID_VALUE);
        }
        // SAFETY: the caller passes properties.
        if !unsafe { properties.read_unaligned() }.is_of_host() {
            return Err(INVALID_VALUE);
        }
        pool.set(driver.memory().create_host_pool());
    }

    [11020, per_thread] call cuMemAllocFromPoolAsync(
        pointer: Out<u64>,
        size: usize,
        pool: u64,
        stream: Handle,
    ) {
        stack::current()?;
        let pointer = pointer.required()?;
        let context = driver.stream(stream)?.context;
        pointer.set(driver.memory().allocate_from_host_pool(context, size as u64, pool)?);
    }

    [11020] call cuMemPoolSetAccess(pool: u64, access: *const Access, count: usize) {
        for number in 0..count {
            // SAFETY: the caller passes `count` descriptions.
            let access = unsafe { access.add(number).read_unaligned() };
            let device = device_of(driver, access)?;
            driver.memory().let_access_host_pool(pool, device)?;
        }
    }
}

fn device_of(driver: &Driver, Access { location, flags }: Access) -> Result<usize> {
    match (location.kind, flags) {
        (ON_DEVICE, READ_WRITE) => driver.ordinal(location.device),
        _ => Err(INVALID_VALUE),
    }
}
