//! Access between devices.

use crate::base::code::{
    INVALID_VALUE, PEER_ACCESS_ALREADY_ENABLED, PEER_ACCESS_NOT_ENABLED, PEER_ACCESS_UNSUPPORTED,
};
use crate::base::handles::Handle;
use crate::contexts::stack;
use crate::entry::exported::exported;
use crate::entry::out::Out;

exported! { driver:
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
        if !context.add_peer(peer) {
            return Err(PEER_ACCESS_ALREADY_ENABLED);
        }
    }

    /// Disables that access.
    [4000] call cuCtxDisablePeerAccess(peer: Handle) {
        let context = stack::current()?;
        let peer = driver.context(peer)?;
        if !context.remove_peer(peer) {
            return Err(PEER_ACCESS_NOT_ENABLED);
        }
    }
}
