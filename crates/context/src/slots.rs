//! Slots: host memory through which copies travel, and the events after these copies.

use crate::{Block, Context, Current, Event, Pages, Retained};
use arrow_cuda_driver::CudaResult;
use std::ops::Range;
use std::ptr;

/// Host memory in slots of one size, and events that tell when the last copies of slots have ended.
///
/// Whoever queues a copy records an event after it, and uses the slot again once the event is reached.  If
/// nobody can know that, the slots have to be [given up](Self::give_up).
///
/// ```
/// use arrow_cuda_context::{Context, Slots, StreamHandle};
///
/// let context = Context::primary(0)?;
/// let current = context.enter()?;
/// let mut slots = Slots::allocate(&context, 3 * 4096)?;
/// slots.divide(2, 4096);
/// slots.prepare_ends(&current, 2)?; // one for each slot
/// assert_eq!(slots.slot(1).addr() - slots.slot(0).addr(), 4096);
/// current.record(slots.end(1), StreamHandle::DEFAULT)?; // after a copy
/// slots.end(1).wait()?;
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
#[derive(Debug)]
pub struct Slots {
    memory: Memory,
    /// The addresses of all bytes, and of those in slots.
    all: Range<usize>,
    divided: Range<usize>,
    /// The size of a slot.
    size: usize,
    ends: Vec<Event>,
}

#[derive(Debug)]
enum Memory {
    Pooled(Block),
    Kept(Retained),
}

impl Slots {
    /// Slots begin at a multiple of this, as files need that are read and written past the page cache.
    pub const ALIGNMENT: usize = 4096;

    /// One slot of `size` bytes, more than 0: pinned by the context's pool, or pageable if no memory can be
    /// pinned.  Copies of pageable memory are slower, which is better than none.
    ///
    /// # Errors
    ///
    /// Driver errors; `CUDA_ERROR_OUT_OF_MEMORY` when there is no memory of either kind.
    pub fn allocate(context: &Context, size: usize) -> CudaResult<Self> {
        match Block::allocate_pinned(context, size) {
            Ok(block) => {
                let start = block.private_address() as usize;
                Ok(Self::with(Memory::Pooled(block), start, size))
            }
            Err(error) if error.is_out_of_memory() => {
                let mut bytes = Vec::new();
                bytes.try_reserve_exact(size).map_err(|_| error)?;
                bytes.resize(size, 0u8);
                Ok(Self::of(bytes.as_mut_ptr(), size, Box::new(bytes)))
            }
            Err(error) => Err(error),
        }
    }

    /// `count` slots of `size` bytes, with events.  They are pinned as long as the context lives, and forked
    /// children do not inherit them.  None if there is no memory, or no event.
    pub(crate) fn pinned(
        current: &Current<'_>,
        count: usize,
        size: usize,
        events: usize,
    ) -> Option<Self> {
        let pages = Pages::map(count * size)?;
        pages.withhold_from_children();
        let mut slots = Self::of(pages.start(), pages.size(), Box::new(pages));
        slots.divide(count, size);
        slots.prepare_ends(current, events).ok()?;
        // SAFETY: the pages stay mapped as long as the slots, which the context has.
        unsafe { current.pin_host_memory(slots.slot(0), slots.room()) }.ok()?;
        Some(slots)
    }

    /// One slot of `size` bytes, which `owner` keeps at their place.
    pub fn of(start: *mut u8, size: usize, owner: Retained) -> Self {
        Self::with(Memory::Kept(owner), start.expose_provenance(), size)
    }

    fn with(memory: Memory, start: usize, size: usize) -> Self {
        let all = start..start + size;
        Self { memory, divided: all.clone(), all, size, ends: Vec::new() }
    }

    /// The size of all memory, in bytes.
    pub fn room(&self) -> usize {
        self.all.len()
    }

    /// Makes `count` slots of `size` bytes, in place of those before, for which there must be room.
    ///
    /// They lie after the last ones if they fit: the device is slow to write where processors have just read, since
    /// they have the memory in their caches (on an H200, 4 MiB took 220 us so, and 120 us elsewhere, measured).
    pub fn divide(&mut self, count: usize, size: usize) {
        let place = |at: usize| at.next_multiple_of(Self::ALIGNMENT);
        let behind = place(self.divided.end);
        let fits = behind + count * size <= self.all.end;
        let start = if fits { behind } else { place(self.all.start) };
        self.divided = start..start + count * size;
        self.size = size;
        debug_assert!(self.divided.end <= self.all.end, "no room for {count} slots of {size}");
    }

    /// Makes events until there are `count`: one for each slot, or fewer if the end of one copy stands for
    /// others.
    ///
    /// # Errors
    ///
    /// Driver errors.
    pub fn prepare_ends(&mut self, current: &Current<'_>, count: usize) -> CudaResult<()> {
        while self.ends.len() < count {
            self.ends.push(Event::new_in(current)?);
        }
        Ok(())
    }

    /// Where a slot begins.
    pub fn slot(&self, number: usize) -> *mut u8 {
        debug_assert!((number + 1) * self.size <= self.divided.len(), "{number} is no slot");
        ptr::with_exposed_provenance_mut(self.divided.start + number * self.size)
    }

    /// An event.  Until it is recorded, it counts as reached.  After the last event comes the first one again.
    ///
    /// # Panics
    ///
    /// When there are no events.
    pub fn end(&self, number: usize) -> &Event {
        &self.ends[number % self.ends.len()]
    }

    /// Takes slots out of use.  The device may use them for ever, since nobody can wait for it.  Their memory
    /// is reused after a fence, or never.
    pub fn give_up(self) {
        match self.memory {
            Memory::Pooled(block) => block.expose(),
            Memory::Kept(owner) => std::mem::forget(owner),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_lie_behind_the_last_ones_while_there_is_room() {
        let mut slots = Slots::of(ptr::without_provenance_mut(100), 4 * 4096, Box::new(()));
        let starts = [(2, 4096), (1, 100), (1, 4096), (3, 4096)].map(|(count, size)| {
            slots.divide(count, size);
            slots.slot(count - 1).addr()
        });
        assert_eq!(starts, [2 * 4096, 3 * 4096, 4096, 3 * 4096]);
    }
}
