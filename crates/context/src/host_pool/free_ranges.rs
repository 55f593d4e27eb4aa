//! Free ranges of memory, and which one serves an allocation.

use std::collections::{BTreeMap, BTreeSet};

/// Every allocation begins and ends at a multiple of this.
pub(super) const GRAIN: u64 = 64;

/// Free ranges, none of which touches another one of the same arena.
#[derive(Debug, Default)]
pub(super) struct FreeRanges {
    /// Sizes by starts.
    by_start: BTreeMap<u64, u64>,
    /// Sizes and starts.
    by_size: BTreeSet<(u64, u64)>,
}

impl FreeRanges {
    /// Adds a range that lies in `arena`, from one address up to another, and merges it with its
    /// neighbours there.
    pub(super) fn add(&mut self, mut start: u64, mut size: u64, arena: (u64, u64)) {
        let end = start + size;
        if end < arena.1
            && let Some(behind) = self.by_start.get(&end).copied()
        {
            self.remove(end, behind);
            size += behind;
        }
        let before = self.by_start.range(arena.0..start).next_back();
        if let Some((before, length)) = before.map(|(start, size)| (*start, *size))
            && before + length == start
        {
            self.remove(before, length);
            (start, size) = (before, size + length);
        }
        self.insert(start, size);
    }

    /// Takes `size` bytes, a multiple of the grain, at a multiple of `alignment` from the range that fits
    /// best.
    pub(super) fn take(&mut self, size: u64, alignment: u64) -> Option<u64> {
        // All ranges begin at a multiple of the grain.
        let needed = size.checked_add(alignment.saturating_sub(GRAIN))?;
        let (length, first) = self.by_size.range((needed, 0)..).next().copied()?;
        let start = first.next_multiple_of(alignment.max(GRAIN));
        self.remove(first, length);
        self.insert(first, start - first);
        self.insert(start + size, first + length - start - size);
        Some(start)
    }

    /// Takes the `size` bytes from `start` on, if a free range begins there and has as many.
    pub(super) fn take_at(&mut self, start: u64, size: u64) -> bool {
        let Some(length) = self.by_start.get(&start).copied().filter(|length| *length >= size)
        else {
            return false;
        };
        self.remove(start, length);
        self.insert(start + size, length - size);
        true
    }

    /// Removes all ranges that begin within an arena.
    pub(super) fn remove_all(&mut self, arena: (u64, u64)) {
        let within: Vec<_> =
            self.by_start.range(arena.0..arena.1).map(|(at, size)| (*at, *size)).collect();
        within.into_iter().for_each(|(start, size)| self.remove(start, size));
    }

    fn insert(&mut self, start: u64, size: u64) {
        if size > 0 {
            self.by_start.insert(start, size);
            self.by_size.insert((size, start));
        }
    }

    fn remove(&mut self, start: u64, size: u64) {
        self.by_start.remove(&start);
        self.by_size.remove(&(size, start));
    }

    /// The ranges: starts and sizes.
    #[cfg(test)]
    pub(super) fn all(&self) -> Vec<(u64, u64)> {
        self.by_start.iter().map(|(start, size)| (*start, *size)).collect()
    }
}
