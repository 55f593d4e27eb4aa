//! The memory of one device: how much of it is used, and what is exported of it.

use std::fs::File;

use super::allocator::{Allocator, BLOCK};
use super::window::Window;
use crate::base::code::{OUT_OF_MEMORY, Result};

/// Other processes' memory is mapped by whole pages, of which this is the largest size that a system has.
const PAGE: u64 = 64 << 10;
const _: () = assert!(BLOCK.is_multiple_of(PAGE));

pub struct DeviceMemory {
    pub window: &'static Window,
    /// In bytes.
    pub total: u64,
    used: u64,
    allocator: Allocator,
    /// Entries of the window's list of exports that were used and are free again.
    free_slots: Vec<usize>,
    next_slot: usize,
}

impl DeviceMemory {
    pub fn new(window: &'static Window, total: u64) -> Self {
        Self {
            window,
            total,
            used: 0,
            allocator: Allocator::new(window.allocatable()),
            free_slots: Vec::new(),
            next_slot: 0,
        }
    }

    pub fn free_bytes(&self) -> u64 {
        self.total - self.used
    }

    /// The address of `size` new bytes; `None` when there is no room.
    pub fn allocate(&mut self, size: u64) -> Option<u64> {
        let footprint = Allocator::footprint(size).filter(|&size| size <= self.free_bytes())?;
        let offset = self.allocator.allocate(size)?;
        self.used += footprint;
        self.discard_freed();
        Some(self.window.base + offset)
    }

    /// Frees the `size` bytes that [`DeviceMemory::allocate`] put at `base`.
    pub fn free(&mut self, base: u64, size: u64) {
        self.used -= Allocator::footprint(size).unwrap_or(0);
        self.allocator.free(base - self.window.base, size);
        self.discard_freed();
    }

    /// Maps `size` bytes at `offset` in another process's file, and returns their address here.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`.
    pub fn attach(&mut self, file: &File, offset: u64, size: u64) -> Result<u64> {
        let skipped = offset % PAGE;
        let (_, length) = pages_around(skipped, size);
        let place = self.allocator.allocate_blocks(length).ok_or(OUT_OF_MEMORY)?;
        if self.window.attach(place, file, offset - skipped, length).is_err() {
            self.allocator.free_blocks(place, length);
            self.discard_freed();
            return Err(OUT_OF_MEMORY);
        }
        Ok(self.window.base + place + skipped)
    }

    /// Ends the mapping that [`DeviceMemory::attach`] made at `base`.
    pub fn detach(&mut self, base: u64, size: u64) {
        let (start, length) = pages_around(base - self.window.base, size);
        // If the other process's pages stay mapped, the addresses are lost, but no call accepts
        // them.
        if self.window.detach(start, length).is_ok() {
            self.allocator.free_blocks(start, length);
            self.discard_freed();
        }
    }

    /// Lists allocation `id` for other processes, and returns its entry in the list.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY` when the list is full.
    pub fn list_export(&mut self, id: u64) -> Result<usize> {
        let slot = self.free_slots.pop().unwrap_or(self.next_slot);
        if !self.window.set_export(slot, id) {
            return Err(OUT_OF_MEMORY);
        }
        self.next_slot = self.next_slot.max(slot + 1);
        Ok(slot)
    }

    /// Takes an allocation off the list.
    pub fn withdraw_export(&mut self, slot: usize) {
        self.window.set_export(slot, 0);
        self.free_slots.push(slot);
    }

    /// Gives the pages of freed blocks back to the system.
    fn discard_freed(&mut self) {
        for blocks in self.allocator.take_freed() {
            self.window.discard(&blocks);
        }
    }
}

/// The whole pages in which `size` bytes at `offset` lie: their start and length.
fn pages_around(offset: u64, size: u64) -> (u64, u64) {
    let start = offset - offset % PAGE;
    (start, (offset + size).next_multiple_of(PAGE) - start)
}
