//! Primary contexts: one for each device, with a count of retains.

use crate::base::code::{Code, INVALID_CONTEXT, INVALID_VALUE};
use crate::base::handles::Handle;
use crate::base::lock::lock;
use crate::entry::call::call;
use crate::entry::out::Out;

/// The flags that a context may have.
const FLAGS: u32 = 0x1ff;

/// Retains the device's primary context, which the first retain creates.
#[unsafe(no_mangle)]
pub extern "C" fn cuDevicePrimaryCtxRetain(context: Out<Handle>, device: i32) -> Code {
    call(|driver| {
        let out = context.required()?;
        let ordinal = driver.ordinal(device)?;
        let mut primary = lock(&driver.devices[ordinal].primary);
        let context = *primary.context.get_or_insert_with(|| driver.create_context(ordinal, true));
        primary.retains += 1;
        out.set(context.handle());
        Ok(())
    })
}

/// Releases the context; the last release destroys it.
#[unsafe(no_mangle)]
pub extern "C" fn cuDevicePrimaryCtxRelease_v2(device: i32) -> Code {
    call(|driver| {
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
        Ok(())
    })
}

/// Destroys the context, however often it is retained.  The retain count stays as it is.
#[unsafe(no_mangle)]
pub extern "C" fn cuDevicePrimaryCtxReset_v2(device: i32) -> Code {
    call(|driver| {
        let ordinal = driver.ordinal(device)?;
        let mut primary = lock(&driver.devices[ordinal].primary);
        if let Some(context) = primary.context.take() {
            driver.destroy_context(context);
        }
        Ok(())
    })
}

/// Returns the flags, and whether the context exists.
#[unsafe(no_mangle)]
pub extern "C" fn cuDevicePrimaryCtxGetState(
    device: i32,
    flags: Out<u32>,
    active: Out<i32>,
) -> Code {
    call(|driver| {
        let (flags, active) = (flags.required()?, active.required()?);
        let ordinal = driver.ordinal(device)?;
        let primary = lock(&driver.devices[ordinal].primary);
        flags.set(primary.flags);
        active.set(i32::from(primary.context.is_some()));
        Ok(())
    })
}

/// Sets the flags, which have no effect.
#[unsafe(no_mangle)]
pub extern "C" fn cuDevicePrimaryCtxSetFlags_v2(device: i32, flags: u32) -> Code {
    call(|driver| {
        let ordinal = driver.ordinal(device)?;
        if flags & !FLAGS != 0 {
            return Err(INVALID_VALUE);
        }
        lock(&driver.devices[ordinal].primary).flags = flags;
        Ok(())
    })
}
