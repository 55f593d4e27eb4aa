//! Contexts that a program creates, and queries of contexts.

use crate::base::code::{CONTEXT_IS_DESTROYED, INVALID_CONTEXT, INVALID_VALUE};
use crate::base::handles::Handle;
use crate::contexts::stack;
use crate::entry::exported::exported;
use crate::entry::out::Out;
use crate::work::capture;

/// The interface version that contexts of `cuCtxCreate_v2` report.
const API_VERSION: u32 = 3020;
const GREATEST_PRIORITY: i32 = -5;
const FLAGS: u32 = 0x1ff;

exported! { driver:
    /// Creates a context and pushes it.
    [3020 to 11040] call cuCtxCreate_v2(context: Out<Handle>, flags: u32, device: i32) {
        let out = context.required()?;
        let ordinal = driver.ordinal(device)?;
        if flags & !FLAGS != 0 {
            return Err(INVALID_VALUE);
        }
        let context = driver.create_context(ordinal, false);
        stack::push(context);
        out.set(context.handle());
    }

    /// Destroys a context and frees its memory.  If it was current, it is popped.
    [4000] call cuCtxDestroy_v2(context: Handle) {
        let context = driver.context(context)?;
        if context.is_primary {
            return Err(INVALID_CONTEXT);
        }
        if stack::top().is_some_and(|top| top.id == context.id) {
            stack::pop();
        }
        driver.destroy_context(context);
    }

    /// Returns the device of the current context.
    [2000 to 13000] call cuCtxGetDevice(device: Out<i32>) {
        let context = stack::current()?;
        device.required()?.set(context.device as i32);
    }

    /// Returns the interface version of a context, or of the current one for null.
    [3020] call cuCtxGetApiVersion(context: Handle, version: Out<u32>) {
        let version = version.required()?;
        let context = match context {
            0 => stack::top(),
            handle => driver.known_context(handle),
        };
        context.filter(|context| !context.is_destroyed()).ok_or(INVALID_CONTEXT)?;
        version.set(API_VERSION);
    }

    /// Returns a number that is unique to a context, or to the current one for null.
    [12000] call cuCtxGetId(context: Handle, id: Out<u64>) {
        let out = id.required()?;
        let context = match context {
            0 => stack::top().ok_or(INVALID_CONTEXT)?,
            handle => driver.known_context(handle).ok_or(CONTEXT_IS_DESTROYED)?,
        };
        if context.is_destroyed() {
            return Err(CONTEXT_IS_DESTROYED);
        }
        out.set(context.id);
    }

    /// Waits for all work of the current context.
    [2000 to 13000] call cuCtxSynchronize() {
        let context = stack::current()?;
        capture::refuse_in_context(context.id)?;
        context.synchronize();
        context.check()?;
    }

    /// Returns the least and the greatest stream priority.
    [5050] call cuCtxGetStreamPriorityRange(least: Out<i32>, greatest: Out<i32>) {
        stack::current()?;
        least.set_if_wanted(0);
        greatest.set_if_wanted(GREATEST_PRIORITY);
    }
}
