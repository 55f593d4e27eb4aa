//! Contexts that a program makes itself, and questions to contexts.

use crate::border::Out;
use crate::code::{CONTEXT_IS_DESTROYED, Code, INVALID_CONTEXT, INVALID_VALUE};
use crate::gate::call;
use crate::handles::Handle;
use crate::stack;

/// What contexts of `cuCtxCreate_v2` report.
const API_VERSION: u32 = 3020;
const GREATEST_PRIORITY: i32 = -5;
const FLAGS: u32 = 0x1ff;

/// Makes a context and pushes it.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxCreate_v2(context: Out<Handle>, flags: u32, device: i32) -> Code {
    call(|driver| {
        let out = context.place()?;
        let ordinal = driver.ordinal(device)?;
        if flags & !FLAGS != 0 {
            return Err(INVALID_VALUE);
        }
        let context = driver.create_context(ordinal, false);
        stack::push(context);
        out.set(context.handle());
        Ok(())
    })
}

/// Ends a context with its memory; where it is current, the one below becomes so.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxDestroy_v2(context: Handle) -> Code {
    call(|driver| {
        let context = driver.context(context)?;
        if context.is_primary {
            return Err(INVALID_CONTEXT);
        }
        if stack::top().is_some_and(|top| top.id == context.id) {
            stack::pop();
        }
        driver.destroy_context(context);
        Ok(())
    })
}

/// Gives the device of the current context.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxGetDevice(device: Out<i32>) -> Code {
    call(|_| {
        let context = stack::current()?;
        device.place()?.set(context.device as i32);
        Ok(())
    })
}

/// Gives the interface version of a context; of the current one for null.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxGetApiVersion(context: Handle, version: Out<u32>) -> Code {
    call(|driver| {
        let version = version.place()?;
        let context = match context {
            0 => stack::top(),
            handle => driver.known_context(handle),
        };
        context.filter(|context| !context.is_destroyed()).ok_or(INVALID_CONTEXT)?;
        version.set(API_VERSION);
        Ok(())
    })
}

/// Gives a number that no other context of the process ever has; of the current one for null.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxGetId(context: Handle, id: Out<u64>) -> Code {
    call(|driver| {
        let out = id.place()?;
        let context = match context {
            0 => stack::top().ok_or(INVALID_CONTEXT)?,
            handle => driver.known_context(handle).ok_or(CONTEXT_IS_DESTROYED)?,
        };
        if context.is_destroyed() {
            return Err(CONTEXT_IS_DESTROYED);
        }
        out.set(context.id);
        Ok(())
    })
}

/// Waits for everything that was queued in the current context.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSynchronize() -> Code {
    call(|_| {
        let context = stack::current()?;
        context.synchronize();
        context.healthy()
    })
}

/// Gives the least and the greatest stream priority.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxGetStreamPriorityRange(least: Out<i32>, greatest: Out<i32>) -> Code {
    call(|_| {
        stack::current()?;
        if let Some(least) = least.optional() {
            least.set(0);
        }
        if let Some(greatest) = greatest.optional() {
            greatest.set(GREATEST_PRIORITY);
        }
        Ok(())
    })
}
