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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_holds_what_was_added_and_what_lies_between() {
        let range = AddressRange::new();
        assert!(!range.contains(0) && !range.contains(u64::MAX));
        range.add(100, 10);
        range.add(50, 1);
        assert!([50, 70, 109].iter().all(|address| range.contains(*address)));
        assert!(!range.contains(49) && !range.contains(110));
        range.add(u64::MAX - 1, 10);
        assert!(range.contains(u64::MAX - 1));
    }
}
