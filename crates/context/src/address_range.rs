//! Where the memory lies that was allocated here, so that most other addresses are known without a
//! lock.

use std::sync::atomic::{AtomicU64, Ordering};

/// The smallest range of addresses that holds all memory that was ever added.
#[derive(Debug)]
pub(crate) struct AddressRange {
    start: AtomicU64,
    end: AtomicU64,
}

impl AddressRange {
    pub(crate) const fn new() -> Self {
        Self { start: AtomicU64::new(u64::MAX), end: AtomicU64::new(0) }
    }

    pub(crate) fn add(&self, address: u64, capacity: u64) {
        self.start.fetch_min(address, Ordering::Relaxed);
        self.end.fetch_max(address.saturating_add(capacity), Ordering::Relaxed);
    }

    pub(crate) fn contains(&self, address: u64) -> bool {
        (self.start.load(Ordering::Relaxed)..self.end.load(Ordering::Relaxed)).contains(&address)
    }
}
