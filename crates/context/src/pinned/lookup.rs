//! Finds the block that contains an address, in any context.

use super::ledger::{Home, Ledger};
use super::pool;
use crate::address_range::AddressRange;
use crate::contexts;

static RANGE: AddressRange = AddressRange::new();

/// Extends the range of addresses that may hold blocks.
pub(super) fn extend_range(address: u64, capacity: u64) {
    RANGE.add(address, capacity);
}

fn query<T>(address: u64, question: impl FnOnce(&Ledger) -> Option<T>) -> Option<T> {
    RANGE
        .contains(address)
        .then(|| pool::with_ledger(|ledger| question(ledger)).ok())
        .flatten()
        .flatten()
}

/// Whether a block's context still exists.  If not, the address may be somebody else's by now.
fn exists(home: Home) -> bool {
    contexts::all().iter().any(|context| context.identity() == home.context && context.is_alive())
}

/// Whether the pinned memory at an address was released, although the driver still has it allocated.
pub(crate) fn is_released(address: u64) -> bool {
    query(address, |ledger| ledger.idle_at(address)).is_some_and(exists)
}

/// The address and requested size, in bytes, of the block that contains `address`.
pub(crate) fn block_at(address: u64) -> Option<(u64, u64)> {
    let (home, start, size) = query(address, |ledger| ledger.block_at(address))?;
    exists(home).then_some((start, size))
}
