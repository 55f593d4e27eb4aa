//! The ledger of a pool: one entry for each block, with its state, and the statistics.  It calls no
//! driver and takes no lock.

mod blocks;
mod classes;
mod entries;
mod index;
mod request;
mod sharing;
mod slack;
mod surplus;
mod tiling;

use blocks::{Block, State};

pub use blocks::BlockState;
pub(crate) use blocks::{Access, Segment};
pub use classes::SizeClass;
pub(crate) use classes::{ALIGNMENT, MIN_LARGE, SEGMENT};
pub(crate) use entries::Ledger;
pub use request::Placement;
pub(crate) use request::{Request, aligned};

/// The address of a block, and that of its segment.
pub(crate) type BlockAddress = (u64, u64);

/// While memory is scarce, a vacant segment is split for a large block as long as what is left over, with
/// what is ready in other segments beside blocks in use, is at most one part in this many of what the
/// context needed at its peak.
const PARTS_DIVISOR: u64 = 12;

impl Ledger {
    pub(crate) fn request(&self, size: u64, placement: Placement) -> Request {
        let class = SizeClass::of(size);
        let is_cacheable = self.always_shares || self.allowance() > 0;
        let capacity = if is_cacheable { class.capacity(size) } else { size };
        let (alone, is_alone) = (None, false);
        let packed = Request { size, capacity, class, alone, is_alone, is_cacheable };
        let alone = class.segment(capacity, 0);
        let may_be_alone = placement == Placement::Alone
            && is_cacheable
            && class != SizeClass::Large
            && alone - size <= self.slack.room();
        if !may_be_alone {
            return packed;
        }
        // It is alone in a segment that is there already, or the driver is asked for one.
        let is_alone = !self.slack.is_spent;
        let capacity = if is_alone { alone } else { capacity };
        Request { capacity, alone: Some(alone), is_alone, ..packed }
    }

    /// How much the driver is to allocate for a request.  If it has no room for that, the request's
    /// capacity is enough.
    pub(crate) fn segment_size(&self, request: &Request) -> u64 {
        let Request { capacity, class, .. } = *request;
        match request.is_cacheable && !request.is_alone {
            true => class.segment(capacity, self.index.classes[class as usize].reserved),
            false => capacity,
        }
    }

    pub(crate) fn reuse(&mut self, request: &Request) -> Option<BlockAddress> {
        let Request { size, capacity, class, alone, is_alone, is_cacheable } = *request;
        if !is_cacheable {
            return None;
        }
        let vacant = alone.and_then(|alone| {
            let room = self.slack.room().checked_sub(alone - size)?;
            self.best_fit(class, alone, alone + room.min(alone / 4), |found| self.is_vacant(found))
        });
        let place = match vacant {
            Some((capacity, address)) => {
                self.serve(address, &Request { capacity, is_alone: true, ..*request })
            }
            None if is_alone => return None,
            None => {
                let largest_unused = self.largest_unused(request);
                let fits = |found: &(u64, u64)| found.0 <= largest_unused || !self.is_vacant(found);
                let (_, address) = self.best_fit(class, capacity, u64::MAX, fits)?;
                self.serve(address, request)
            }
        };
        self.account.stats.cache_hits += 1;
        Some(place)
    }

    /// Whether a request could get memory that work in flight may still use, once that work is complete.
    pub(crate) fn may_serve_later(&self, request: &Request) -> bool {
        let in_flight = self.index.classes[request.class as usize].in_flight;
        request.is_cacheable && in_flight >= request.capacity
    }

    /// The smallest ready block of a capacity from `least` to `most` that fits: its capacity and address.
    fn best_fit(
        &self,
        class: SizeClass,
        least: u64,
        most: u64,
        fits: impl Fn(&(u64, u64)) -> bool,
    ) -> Option<(u64, u64)> {
        let ready = &self.index.classes[class as usize].ready;
        let mut found = ready.range((least, 0)..).take_while(|(capacity, _)| *capacity <= most);
        found.find(|block| fits(block)).copied()
    }

    /// Whether a ready block is all of its segment.
    fn is_vacant(&self, (capacity, address): &(u64, u64)) -> bool {
        self.segments.get(address).is_some_and(|segment| segment.capacity == *capacity)
    }

    fn largest_unused(&self, request: &Request) -> u64 {
        let Request { size, capacity, class, .. } = *request;
        let (peak, needed) =
            (self.peak_with(size), self.account.stats.allocated_bytes.saturating_add(size));
        // While a program needs less than at its peak, there is room enough to split any segment.
        if class != SizeClass::Large || needed <= peak / 4 * 3 {
            return u64::MAX;
        }
        let in_parts = self.index.classes[class as usize].ready_in_parts;
        let room = (peak / PARTS_DIVISOR).saturating_sub(in_parts);
        classes::largest_split(capacity, room)
    }

    /// The most that the context needs, as far as is known, if it is to have `more` bytes.
    fn peak_with(&self, more: u64) -> u64 {
        self.account.peak.max(self.account.stats.allocated_bytes.saturating_add(more))
    }

    pub(crate) fn count_miss(&mut self, request: &Request) {
        self.account.stats.cache_misses += u64::from(request.is_cacheable);
    }

    /// Adds a segment that the driver has allocated for a request, and takes the request's block.
    pub(crate) fn add(&mut self, address: u64, capacity: u64, request: &Request) -> BlockAddress {
        let (class, is_open) = (request.class, request.is_cacheable);
        let (in_use, vacant_since, may_have_users) = (1, 0, false);
        let mut segment =
            Segment { address, capacity, class, is_open, in_use, vacant_since, may_have_users };
        let (state, is_alone, has_residue) = (State::Ready, false, false);
        let block = Block { segment: address, capacity, size: 0, state, is_alone, has_residue };
        segment.end_use(&mut self.account);
        self.index.add(&mut segment, address, &block);
        self.index.classes[class as usize].reserved += capacity;
        self.blocks.insert(address, block);
        self.segments.insert(address, segment);
        self.account.stats.driver_allocations += 1;
        self.account.count_reserved(capacity);
        self.serve(address, request)
    }

    fn serve(&mut self, address: u64, request: &Request) -> BlockAddress {
        let segment = self.take(address, request.capacity, request.size);
        self.account.count_allocated(request.size);
        if request.is_alone {
            let block = self.block_mut(address);
            block.is_alone = true;
            let slack = block.capacity - block.size;
            self.slack.add(slack);
        }
        (address, segment)
    }

    /// Divides the block at an address, which was requested for these sizes, into one for each.
    pub(crate) fn divide(&mut self, address: u64, sizes: &[u64]) {
        let Some(block) = self.blocks.get(&address) else { return };
        self.account.stats.allocated_bytes -= block.size;
        self.account.stats.allocated_bytes += sizes.iter().sum::<u64>();
        let mut at = address;
        for (index, size) in sizes.iter().enumerate() {
            self.block_mut(at).size = *size;
            if index + 1 < sizes.len() {
                at = self.cut(at, aligned(*size));
            }
        }
    }

    /// Releases the block that contains an address.  If it is *exposed*, work that is still in flight may use
    /// it.  A block that a reset of the device has destroyed has no entry.  Returns the block's address and size,
    /// unless other processes keep its memory.
    pub(crate) fn release(&mut self, address: u64, is_exposed: bool) -> Option<(u64, u64)> {
        let (start, block) = self.blocks.range_mut(..=address).next_back()?;
        let State::InUse(access) = block.state else { return None };
        if address - start >= block.capacity {
            return None;
        }
        let (address, size, segment) = (*start, block.size, block.segment);
        let is_alone = std::mem::take(&mut block.is_alone);
        let slack = if is_alone { block.capacity - size } else { 0 };
        self.slack.remove(slack);
        if access == Access::Exported {
            // It stays as it is: its memory stays allocated, and counts as reserved.
            self.slack.lost += slack;
            return None;
        }
        block.has_residue = true;
        self.account.stats.allocated_bytes -= size;
        if access == Access::Lent {
            // No evidence covers the work of a process that the memory was lent to.
            self.close(segment);
        }
        self.end_use(address, is_exposed);
        Some((address, size))
    }

    /// Removes the segments of which nothing may be reused.
    #[must_use = "the driver is to free what is returned"]
    pub(crate) fn take_finished(&mut self) -> Vec<Segment> {
        let finished = std::mem::take(&mut self.finished);
        finished.into_iter().map(|segment| self.remove_segment(segment)).collect()
    }

    pub(crate) fn restore_segment(&mut self, segment: &Segment) {
        self.account.stats.driver_frees -= 1;
        self.account.count_reserved(segment.capacity);
    }

    /// Puts a removed segment back as one that will not be reused.
    pub(crate) fn postpone(&mut self, segment: &Segment) {
        self.restore_segment(segment);
        let Segment { address, capacity, class, .. } = *segment;
        let (state, is_alone, has_residue) = (State::Withheld, false, true);
        let block = Block { segment: address, capacity, size: 0, state, is_alone, has_residue };
        self.blocks.insert(address, block);
        self.segments.insert(address, Segment { is_open: false, in_use: 0, ..*segment });
        self.index.classes[class as usize].reserved += capacity;
        self.finished.push(address);
    }

    /// Whether work in flight may still use released memory.
    pub(crate) fn has_in_flight(&self) -> bool {
        self.index.in_flight_bytes() > 0
    }

    /// The address and size of the block in use that contains an address.  The driver reserved its
    /// memory from `reserved_from` on.
    pub(crate) fn block_at(&self, address: u64, reserved_from: u64) -> Option<(u64, u64)> {
        let (start, block) = self.blocks.range(reserved_from..=address).next_back()?;
        matches!(block.state, State::InUse(_)).then_some((*start, block.size))
    }

    pub(crate) fn is_idle(&self, address: u64) -> bool {
        let block = self.containing(address);
        block.is_some_and(|(_, block)| !matches!(block.state, State::InUse(_)))
    }

    /// Resizes the block in use at an address, without moving it.  If the block shrinks, work in flight may
    /// still use the rest.  Returns false if there is no room after it, or if its segment is for blocks of
    /// another class of sizes.
    pub(crate) fn resize(&mut self, address: u64, size: u64) -> bool {
        let Some(before) = self.blocks.get(&address).copied() else { return false };
        let Segment { class, is_open, .. } = self.segments[&before.segment];
        if before.is_alone || !is_open || SizeClass::of(size) != class {
            return false;
        }
        let wanted = class.capacity(size);
        if wanted > before.capacity && !self.grow(address, wanted - before.capacity) {
            return false;
        }
        let block = self.block_mut(address);
        block.size = size;
        if block.capacity - wanted >= class.step() {
            let rest = self.cut(address, wanted);
            self.end_use(rest, true);
        }
        self.account.stats.allocated_bytes -= before.size;
        self.account.count_allocated(size);
        true
    }

    fn allowance(&self) -> u64 {
        if self.caches_nothing { 0 } else { self.account.limit.unwrap_or(0) }
    }

    /// Forgets all blocks, which a reset of the device has destroyed.  If the memory outlives the context, blocks in
    /// use stay; the other segments are returned.
    #[must_use = "what is returned must be freed"]
    pub(crate) fn abandon(&mut self, keeps_memory: bool) -> Vec<Segment> {
        if keeps_memory {
            let left = self.clear();
            let in_use: Vec<_> = self.segments.keys().copied().collect();
            in_use.into_iter().for_each(|segment| self.close(segment));
            return left;
        }
        let mut account = std::mem::take(&mut self.account);
        for segment in self.segments.values_mut() {
            segment.begin_use(&mut account); // no longer cached
            account.stats.reserved_bytes -= segment.capacity;
        }
        let in_use = self.blocks.values().filter(|it| matches!(it.state, State::InUse(_)));
        account.stats.allocated_bytes -= in_use.map(|block| block.size).sum::<u64>();
        *self = Self { account, ..Self::default() };
        Vec::new()
    }
}

#[cfg(test)]
mod tests;
