//! Access between devices.

use crate::border::Out;
use crate::code::{
    Code, INVALID_VALUE, PEER_ACCESS_ALREADY_ENABLED, PEER_ACCESS_NOT_ENABLED,
    PEER_ACCESS_UNSUPPORTED,
};
use crate::gate::call;
use crate::handles::Handle;
use crate::stack;

/// Tells whether a device can reach the memory of another; all do, but not their own as a peer.
#[unsafe(no_mangle)]
pub extern "C" fn cuDeviceCanAccessPeer(can: Out<i32>, device: i32, peer: i32) -> Code {
    call(|driver| {
        let can = can.place()?;
        let (device, peer) = (driver.ordinal(device)?, driver.ordinal(peer)?);
        can.set(i32::from(device != peer));
        Ok(())
    })
}

/// Lets kernels of the current context use the memory of another device's context.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxEnablePeerAccess(peer: Handle, flags: u32) -> Code {
    call(|driver| {
        let context = stack::current()?;
        let peer = driver.context(peer)?;
        if flags != 0 {
            return Err(INVALID_VALUE);
        }
        if peer.device == context.device {
            return Err(PEER_ACCESS_UNSUPPORTED);
        }
        match context.add_peer(peer) {
            true => Ok(()),
            false => Err(PEER_ACCESS_ALREADY_ENABLED),
        }
    })
}

/// Takes that access back.
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
