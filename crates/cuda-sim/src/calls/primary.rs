//! Primary contexts: one for each device, with a count of retains.

use crate::base::code::{INVALID_CONTEXT, INVALID_VALUE};
use crate::base::handles::Handle;
use crate::base::lock::lock;
use crate::entry::exported::exported;
use crate::entry::out::Out;

/// The flags that a context may have.
const FLAGS: u32 = 0x1ff;

exported! { driver:
    /// Retains the device's primary context, which the first retain creates.
    [7000] call cuDevicePrimaryCtxRetain(context: Out<Handle>, device: i32) {
        let out = context.required()?;
        let ordinal = driver.ordinal(device)?;
        let mut primary = lock(&driver.devices[ordinal].primary);
        let context = *primary.context.get_or_insert_with(|| driver.create_context(ordinal, true));
        primary.retains += 1;
        out.set(context.handle());
    }

    /// Releases the context; the last release destroys it.
    [11000] call cuDevicePrimaryCtxRelease_v2(device: i32) {
        let ordinal = driver.ordinal(device)?;
        let mut primary = lock(&driver.devices[ordinal].primary);
        if primary.retains == 0 {
            return Err(INVALID_CONTEXT);
        }
        primary.retains -= 1;
        if primary.retains == 0
            && let Some(context) = primary.context.take()
        {
            driver.destroy_context(context);
        }
    }

    /// Destroys the context, however often it is retained.  The retain count stays as it is.
    [11000] call cuDevicePrimaryCtxReset_v2(device: i32) {
        let ordinal = driver.ordinal(device)?;
        let mut primary = lock(&driver.devices[ordinal].primary);
        if let Some(context) = primary.context.take() {
            driver.destroy_context(context);
        }
    }

    /// Returns the flags, and whether the context exists.
    [7000] call cuDevicePrimaryCtxGetState(device: i32, flags: Out<u32>, active: Out<i32>) {
        let (flags, active) = (flags.required()?, active.required()?);
        let ordinal = driver.ordinal(device)?;
        let primary = lock(&driver.devices[ordinal].primary);
        flags.set(primary.flags);
        active.set(i32::from(primary.context.is_some()));
    }

    /// Sets the flags, which have no effect.
    [11000] call cuDevicePrimaryCtxSetFlags_v2(device: i32, flags: u32) {
        let ordinal = driver.ordinal(device)?;
        if flags & !FLAGS != 0 {
            return Err(INVALID_VALUE);
        }
        lock(&driver.devices[ordinal].primary).flags = flags;
    }
}
