//! Access between devices.

use crate::base::code::{
    Code, INVALID_VALUE, PEER_ACCESS_ALREADY_ENABLED, PEER_ACCESS_NOT_ENABLED,
    PEER_ACCESS_UNSUPPORTED,
};
use crate::base::handles::Handle;
use crate::contexts::stack;
use crate::entry::call::call;
use crate::entry::out::Out;

/// Returns whether a device can access the memory of another: never its own, and no other one's if
/// `CUDA_SIM_PEERS` is `on`.
#[unsafe(no_mangle)]
pub extern "C" fn cuDeviceCanAccessPeer(can: Out<i32>, device: i32, peer: i32) -> Code {
    call(|driver| {
        let can = can.required()?;
        let (device, peer) = (driver.ordinal(device)?, driver.ordinal(peer)?);
        can.set(i32::from(device != peer && driver.config.peers));
        Ok(())
    })
}

/// Enables access of the current context's kernels to the memory of another device's context.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxEnablePeerAccess(peer: Handle, flags: u32) -> Code {
    call(|driver| {
        let context = stack::current()?;
        let peer = driver.context(peer)?;
        if flags != 0 {
            return Err(INVALID_VALUE);
        }
        if peer.device == context.device || !driver.config.peers {
            return Err(PEER_ACCESS_UNSUPPORTED);
        }
        match context.add_peer(peer) {
            true => Ok(()),
            false => Err(PEER_ACCESS_ALREADY_ENABLED),
        }
    })
}

/// Disables that access.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxDisablePeerAccess(peer: Handle) -> Code {
    call(|driver| {
        let context = stack::current()?;
        let peer = driver.context(peer)?;
        match context.remove_peer(peer) {
            true => Ok(()),
            false => Err(PEER_ACCESS_NOT_ENABLED),
        }
    })
}
