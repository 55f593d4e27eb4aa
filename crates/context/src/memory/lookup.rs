//! Which block an address lies in, whatever context it belongs to.
//!
//! The driver knows what it has handed out; what was asked for may be less, and what was released may
//! still be the driver's.  Whoever checks an address against its allocation has to ask here first.

use super::ledger::Ledger;
use super::ledger::capacity::BLOCK;
use super::manager::Manager;
use crate::{Attribute, Context, Current, contexts};
use arrow_cuda_driver::CudaResult;
use std::sync::atomic::{AtomicU64, Ordering};

/// No block ever lay outside these addresses: most addresses of the host are spared the locks.
static LOWEST: AtomicU64 = AtomicU64::new(u64::MAX);
static HIGHEST: AtomicU64 = AtomicU64::new(0);

/// Takes note that blocks lie there.
pub(super) fn note(address: u64, capacity: u64) {
    LOWEST.fetch_min(address, Ordering::Relaxed);
    HIGHEST.fetch_max(address.saturating_add(capacity), Ordering::Relaxed);
}

/// What the ledgers of all contexts say of an address.  Those of contexts that are gone do not count:
/// the address may be somebody else's by now.
pub(super) fn ask<T>(address: u64, question: impl Fn(&mut Ledger) -> Option<T>) -> Vec<T> {
    let highest = HIGHEST.load(Ordering::Relaxed).saturating_add(BLOCK);
    if !(LOWEST.load(Ordering::Relaxed)..=highest).contains(&address) {
        return Vec::new();
    }
    let answer = |context: &Context| {
        let manager = context.extension::<Manager>()?;
        let answer = question(&mut *manager.ledger.lock().ok()?)?;
        // Asks the driver, so not under the lock, and only where it matters.
        context.is_alive().then_some(answer)
    };
    contexts::all().iter().filter_map(answer).collect()
}

/// Whether the memory at an address was released, although the driver still knows it.
///
/// ```
/// assert!(!arrow_cuda_context::is_released(0x1000));
/// ```
pub fn is_released(address: u64) -> bool {
    !ask(address, |ledger| ledger.is_idle(address).then_some(())).is_empty()
}

/// The block whose memory, as the driver reserved it from `reserved_from` on, `address` lies in:
/// its address and the size that was asked for, in bytes.  None when it was not allocated here, or
/// was released.
///
/// ```
/// assert_eq!(arrow_cuda_context::block_at(0x1000, 0x800), None);
/// ```
pub fn block_at(address: u64, reserved_from: u64) -> Option<(u64, u64)> {
    // Contexts of one device have blocks side by side: the nearest one counts.
    ask(address, |ledger| ledger.block_at(address, reserved_from)).into_iter().max()
}

impl Current<'_> {
    /// The address at which the context's device reaches the memory at `address`, device memory or
    /// page-locked host memory; none for memory that the driver does not know, or that was released
    /// here although the driver still knows it.
    ///
    /// # Errors
    ///
    /// All others of the driver.
    pub fn device_address(&self, address: u64) -> CudaResult<Option<u64>> {
        if is_released(address) {
            return Ok(None);
        }
        self.attribute_if_known(Attribute::DevicePointer, address)
    }
}
