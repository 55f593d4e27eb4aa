//! The blocks that are allocated here, by address.
//!
//! The driver knows what it has handed out; what was asked for may be less (see `block.rs`).
//! Whoever checks an address against its allocation has to ask here first.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Sizes by address.  Device addresses are unique within a process, across devices.
static LIVE: Mutex<BTreeMap<u64, u64>> = Mutex::new(BTreeMap::new());

pub(crate) fn remember(address: u64, size: u64) {
    live().insert(address, size);
}

pub(crate) fn forget(address: u64) {
    live().remove(&address);
}

/// The block whose memory, as the driver reserved it from `reserved_from` on, `address` lies in:
/// its address and the size that was asked for, in bytes.  None when it was not allocated here.
///
/// ```
/// assert_eq!(arrow_cuda_context::block_at(0x1000, 0x800), None);
/// ```
pub fn block_at(address: u64, reserved_from: u64) -> Option<(u64, u64)> {
    let live = live();
    let (start, size) = live.range(reserved_from..=address).next_back()?;
    Some((*start, *size))
}

fn live() -> MutexGuard<'static, BTreeMap<u64, u64>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_found_from_inside_and_from_its_slack() {
        remember(0x7000_0000, 100);
        assert_eq!(block_at(0x7000_0000, 0x7000_0000), Some((0x7000_0000, 100)));
        assert_eq!(block_at(0x7000_0063, 0x7000_0000), Some((0x7000_0000, 100)));
        assert_eq!(block_at(0x7000_1000, 0x7000_0000), Some((0x7000_0000, 100)));
        assert_eq!(block_at(0x7000_1000, 0x7000_0800), None);
        forget(0x7000_0000);
        assert_eq!(block_at(0x7000_0000, 0x7000_0000), None);
    }
}
