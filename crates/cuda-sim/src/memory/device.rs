//! The memory of one device, and how much of it is used.

use std::fs::File;
use std::mem;

use super::Window;
use super::allocator::{Allocator, BLOCK};
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
}

impl DeviceMemory {
    pub fn new(window: &'static Window, total: u64) -> Self {
        Self { window, total, used: 0, allocator: Allocator::new(0..window.length) }
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

    /// Reserves whole blocks of addresses, or of memory, which then counts as used.
    pub fn reserve(&mut self, size: u64, is_memory: bool) -> Result<u64> {
        let used = if is_memory { size } else { 0 };
        let has_room = used <= self.free_bytes();
        let offset = has_room.then(|| self.allocator.allocate_blocks(size)).flatten();
        self.used += used;
        self.discard_freed();
        offset.ok_or(OUT_OF_MEMORY).inspect_err(|_| self.used -= used)
    }

    /// Ends what [`DeviceMemory::reserve`] has begun.
    pub fn unreserve(&mut self, offset: u64, size: u64, is_memory: bool) {
        self.used -= if is_memory { size } else { 0 };
        self.allocator.free_blocks(offset, size);
        self.discard_freed();
    }

    /// Maps `size` bytes at `offset` in another process's file, and returns their address here.
    pub fn attach(&mut self, file: &File, offset: u64, size: u64) -> Result<u64> {
        let skipped = offset % PAGE;
        let (_, length) = pages_around(skipped, size);
        let place = self.allocator.allocate_blocks(length).ok_or(OUT_OF_MEMORY)?;
        if self.window.replace(place, length, Some((file, offset - skipped))).is_err() {
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
        if self.window.replace(start, length, None).is_ok() {
            self.allocator.free_blocks(start, length);
            self.discard_freed();
        }
    }

    /// Gives the pages of freed blocks back to the system.
    fn discard_freed(&mut self) {
        for blocks in mem::take(&mut self.allocator.freed) {
            self.window.discard(&blocks);
        }
    }
}

/// The whole pages in which `size` bytes at `offset` lie: their start and length.
fn pages_around(offset: u64, size: u64) -> (u64, u64) {
    let start = offset - offset % PAGE;
    (start, (offset + size).next_multiple_of(PAGE) - start)
}
