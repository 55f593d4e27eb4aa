//! Primary contexts: one per device, shared by counting.

use crate::border::Out;
use crate::code::{Code, INVALID_CONTEXT, INVALID_VALUE};
use crate::gate::call;
use crate::handles::{Handle, lock};

/// The flags that a context may have.
const FLAGS: u32 = 0x1ff;

/// Gives the device's primary context, made at the first retain.
#[unsafe(no_mangle)]
pub extern "C" fn cuDevicePrimaryCtxRetain(context: Out<Handle>, device: i32) -> Code {
    call(|driver| {
        let out = context.place()?;
        let ordinal = driver.ordinal(device)?;
        let mut primary = lock(&driver.devices[ordinal].primary);
        let context = *primary.context.get_or_insert_with(|| driver.create_context(ordinal, true));
        primary.retains += 1;
        out.set(context.handle());
        Ok(())
    })
}

/// Takes a retain back; the last one ends the context.
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

/// Ends the context whatever the retains, which can still be taken back.
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

/// Gives the flags, and whether the context exists.
#[unsafe(no_mangle)]
pub extern "C" fn cuDevicePrimaryCtxGetState(
    device: i32,
    flags: Out<u32>,
    active: Out<i32>,
) -> Code {
    call(|driver| {
        let (flags, active) = (flags.place()?, active.place()?);
        let ordinal = driver.ordinal(device)?;
        let primary = lock(&driver.devices[ordinal].primary);
        flags.set(primary.flags);
        active.set(i32::from(primary.context.is_some()));
        Ok(())
    })
}

/// Sets the flags, which are remembered only.
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
