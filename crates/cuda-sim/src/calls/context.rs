//! Contexts: contexts that a program creates, primary contexts and how often they are retained, each thread's stack
//! of contexts, and peer access between them.

use crate::base::code::{
    CONTEXT_IS_DESTROYED, INVALID_CONTEXT, INVALID_VALUE, PEER_ACCESS_ALREADY_ENABLED,
    PEER_ACCESS_NOT_ENABLED, PEER_ACCESS_UNSUPPORTED,
};
use crate::base::{Handle, lock};
use crate::contexts::{Context, stack};
use crate::entry::{Out, exported};
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

    [2000 to 13000] call cuCtxSynchronize() {
        let context = stack::current()?;
        capture::refuse_in_context(context.id)?;
        context.synchronize();
        context.check()?;
    }

    [5050] call cuCtxGetStreamPriorityRange(least: Out<i32>, greatest: Out<i32>) {
        stack::current()?;
        least.set_if_wanted(0);
        greatest.set_if_wanted(GREATEST_PRIORITY);
    }

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

    /// Makes a context current until it is popped.
    [4000] call cuCtxPushCurrent_v2(context: Handle) {
        stack::push(driver.context(context)?);
    }

    [4000] call cuCtxPopCurrent_v2(context: Out<Handle>) {
        let popped = stack::pop().ok_or(INVALID_CONTEXT)?;
        context.set_if_wanted(popped.handle());
    }

    /// Returns the current context, or null.
    [4000] call cuCtxGetCurrent(context: Out<Handle>) {
        let current = stack::top().map_or(0, Context::handle);
        context.required()?.set(current);
    }

    /// Replaces the current context; null only pops it.
    [4000] call cuCtxSetCurrent(context: Handle) {
        let context = match context {
            0 => None,
            handle => Some(driver.context(handle)?),
        };
        stack::pop();
        context.into_iter().for_each(stack::push);
    }

    /// Returns whether a device can access the memory of another: never its own, and no other one's if
    /// `CUDA_SIM_PEERS` is `on`.
    [4000] call cuDeviceCanAccessPeer(can: Out<i32>, device: i32, peer: i32) {
        let can = can.required()?;
        let (device, peer) = (driver.ordinal(device)?, driver.ordinal(peer)?);
        can.set(i32::from(device != peer && driver.config.peers));
    }

    /// Enables access of the current context's kernels to the memory of another device's context.
    [4000] call cuCtxEnablePeerAccess(peer: Handle, flags: u32) {
        let context = stack::current()?;
        let peer = driver.context(peer)?;
        if flags != 0 {
            return Err(INVALID_VALUE);
        }
        if peer.device == context.device || !driver.config.peers {
            return Err(PEER_ACCESS_UNSUPPORTED);
        }
        if !lock(&context.peers).insert(peer.id) {
            return Err(PEER_ACCESS_ALREADY_ENABLED);
        }
    }

    /// Disables that access.
    [4000] call cuCtxDisablePeerAccess(peer: Handle) {
        let context = stack::current()?;
        let peer = driver.context(peer)?;
        if !lock(&context.peers).remove(&peer.id) {
            return Err(PEER_ACCESS_NOT_ENABLED);
        }
    }
}
