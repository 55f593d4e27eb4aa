//! The books of arenas: what is in use, pending or free in each.  They call no driver.

use super::free_ranges::{FreeRanges, GRAIN};
use std::collections::{BTreeMap, VecDeque};

/// The smallest arena.
const SMALLEST: u64 = 2 << 20;
/// The largest one.
const LARGEST: u64 = 64 << 20;
/// The largest vacant arena that stays; another one goes back to the cache of the process.
const KEPT: u64 = 4 << 20;

/// Memory that was released, which work in flight may use.
#[derive(Clone, Copy, Debug)]
struct Pending {
    /// The number of its release.
    released: u64,
    start: u64,
    size: u64,
}

#[derive(Debug)]
struct Arena {
    end: u64,
    /// The bytes in use.
    used: u64,
    /// In the order of the releases.
    pending: VecDeque<Pending>,
}

/// All arenas.
#[derive(Debug, Default)]
pub(super) struct Arenas {
    by_start: BTreeMap<u64, Arena>,
    free: FreeRanges,
    bytes: u64,
    pending_bytes: u64,
    last_release: u64,
}

/// The bytes that an allocation takes.
fn rounded(size: u64) -> u64 {
    size.next_multiple_of(GRAIN)
}

impl Arenas {
    /// Takes `size` bytes at a multiple of `alignment`.
    pub(super) fn take(&mut self, size: u64, alignment: u64) -> Option<u64> {
        let size = rounded(size);
        let start = self.free.take(size, alignment)?;
        let (_, arena) = self.arena_at(start)?;
        arena.used += size;
        Some(start)
    }

    /// Resizes the memory at an address where it is.  Returns false if there is no room behind it.
    pub(super) fn resize(&mut self, address: u64, old_size: u64, new_size: u64) -> bool {
        let (old, new) = (rounded(old_size), rounded(new_size));
        if new <= old {
            self.release_part(address + new, old - new);
            return true;
        }
        let more = new - old;
        let Some((_, arena)) = self.arena_at(address) else { return false };
        // A free range behind the end of the arena would be another one's.
        if address + new > arena.end || !self.free.take_at(address + old, more) {
            return false;
        }
        if let Some((_, arena)) = self.arena_at(address) {
            arena.used += more;
        }
        true
    }

    /// Releases memory.  Returns the start of its arena if that is to go: nothing in it is in use.
    pub(super) fn release(&mut self, address: u64, size: u64) -> Option<u64> {
        self.release_part(address, rounded(size));
        let (start, arena) = self.arena_at(address)?;
        let (is_vacant, size) = (arena.used == 0, arena.end - start);
        let others = |(other, arena): (&u64, &Arena)| *other != start && arena.used == 0;
        let goes = is_vacant && (size > KEPT || self.by_start.iter().any(others));
        goes.then(|| self.remove(start))
    }

    fn release_part(&mut self, start: u64, size: u64) {
        if size == 0 {
            return;
        }
        self.last_release += 1;
        let released = self.last_release;
        let Some((_, arena)) = self.arena_at(start) else { return };
        arena.used -= size;
        arena.pending.push_back(Pending { released, start, size });
        self.pending_bytes += size;
    }

    fn remove(&mut self, start: u64) -> u64 {
        if let Some(arena) = self.by_start.remove(&start) {
            self.free.remove_all((start, arena.end));
            self.pending_bytes -= arena.pending.iter().map(|pending| pending.size).sum::<u64>();
            self.bytes -= arena.end - start;
        }
        start
    }

    /// Adds an arena, all of which is free.
    pub(super) fn add(&mut self, start: u64, size: u64) {
        let end = start + size / GRAIN * GRAIN;
        self.by_start.insert(start, Arena { end, used: 0, pending: VecDeque::new() });
        self.free.add(start, end - start, (start, end));
        self.bytes += end - start;
    }

    /// The number of the last release.
    pub(super) fn last_release(&self) -> u64 {
        self.last_release
    }

    /// Records that all work is complete that could use memory released up to that number.
    pub(super) fn mark_complete(&mut self, up_to: u64) {
        for (start, arena) in &mut self.by_start {
            while let Some(pending) = arena.pending.front().copied()
                && pending.released <= up_to
            {
                arena.pending.pop_front();
                self.pending_bytes -= pending.size;
                self.free.add(pending.start, pending.size, (*start, arena.end));
            }
        }
    }

    /// Whether what is pending could serve an allocation.
    pub(super) fn is_pending(&self, size: u64) -> bool {
        self.pending_bytes >= rounded(size)
    }

    /// How large the next arena should be, for an allocation of `size` bytes at a multiple of
    /// `alignment`; and how large it has to be.
    pub(super) fn next_size(&self, size: u64, alignment: u64) -> (u64, u64) {
        let needed = (rounded(size) + alignment.saturating_sub(GRAIN)).next_multiple_of(SMALLEST);
        let wanted = self.bytes.next_power_of_two().clamp(SMALLEST, LARGEST);
        (wanted.max(needed.next_power_of_two()), needed)
    }

    /// Removes all arenas in which nothing is in use.  Returns their starts.
    pub(super) fn remove_vacant(&mut self) -> Vec<u64> {
        let vacant = self.by_start.iter().filter(|(_, arena)| arena.used == 0);
        let vacant: Vec<u64> = vacant.map(|(start, _)| *start).collect();
        vacant.into_iter().map(|start| self.remove(start)).collect()
    }

    /// The arena that an address lies in, and where it begins.
    fn arena_at(&mut self, address: u64) -> Option<(u64, &mut Arena)> {
        let (start, arena) = self.by_start.range_mut(..=address).next_back()?;
        (address < arena.end).then_some((*start, arena))
    }
}

#[cfg(test)]
mod tests;
