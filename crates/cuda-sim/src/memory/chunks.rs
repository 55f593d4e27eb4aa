//! Chunks, which are mapped in reserved ranges of addresses.

use super::chunk::Chunk;
use super::{BLOCK, Kind, Memory};
use crate::base::code::{INVALID_VALUE, OUT_OF_MEMORY, Result};
use crate::contexts::Context;

impl Memory {
    /// Reserves addresses.  They come from the window of a device, though others may be mapped there.
    pub fn reserve(&mut self, device: usize, size: u64) -> Result<u64> {
        check(size)?;
        let offset = self.devices[device].reserve(size, false)?;
        let address = self.devices[device].window.base + offset;
        self.chunks.reserved.insert(address, (device, size));
        Ok(address)
    }

    pub fn unreserve(&mut self, address: u64, size: u64) -> Result {
        let found = self.chunks.reserved.get(&address).filter(|(_, known)| *known == size);
        let (device, _) = *found.ok_or(INVALID_VALUE)?;
        if self.regions.range(address..address + size).next().is_some() {
            return Err(INVALID_VALUE);
        }
        self.chunks.reserved.remove(&address);
        let memory = &mut self.devices[device];
        memory.unreserve(address - memory.window.base, size, false);
        Ok(())
    }

    /// The start and size of the reserved range in which an address lies.
    pub fn reservation(&self, address: u64) -> Option<(u64, u64)> {
        let (&start, &(_, size)) = self.chunks.reserved.range(..=address).next_back()?;
        (address < start + size).then_some((start, size))
    }

    pub fn create_chunk(&mut self, device: usize, size: u64) -> Result<u64> {
        check(size)?;
        let offset = self.devices[device].reserve(size, true)?;
        let window = self.devices[device].window;
        window.soil(window.base + offset, size);
        self.chunks.last += 1;
        let chunk = Chunk { device, offset, size, is_released: false, mappings: 0 };
        self.chunks.alive.insert(self.chunks.last, chunk);
        Ok(self.chunks.last)
    }

    pub fn release_chunk(&mut self, handle: u64) -> Result {
        let chunk = self.chunks.alive.get_mut(&handle).ok_or(INVALID_VALUE)?;
        if chunk.is_released {
            return Err(INVALID_VALUE);
        }
        chunk.is_released = true;
        self.free_unused(handle);
        Ok(())
    }

    fn free_unused(&mut self, handle: u64) {
        let Some(chunk) = self.chunks.alive.get(&handle) else { return };
        if chunk.is_released && chunk.mappings == 0 {
            self.devices[chunk.device].unreserve(chunk.offset, chunk.size, true);
            self.chunks.alive.remove(&handle);
        }
    }

    /// Maps all of a chunk within a reserved range, where nothing is mapped.  Nobody has access yet.
    pub fn map_chunk(
        &mut self,
        context: &'static Context,
        (address, size): (u64, u64),
        handle: u64,
    ) -> Result {
        let reserved = self.chunks.reserved.range(..=address).next_back();
        let (start, (owner, length)) = reserved.ok_or(INVALID_VALUE)?;
        let is_within = address + size <= start + length && address.is_multiple_of(BLOCK);
        let is_taken = self.containing(address).is_some()
            || self.regions.range(address..address + size).next().is_some();
        if !is_within || is_taken {
            return Err(INVALID_VALUE);
        }
        let chunk = self.chunks.alive.get_mut(&handle).filter(|chunk| !chunk.is_released);
        let chunk = chunk.filter(|chunk| chunk.size == size).ok_or(INVALID_VALUE)?;
        // The range must be of the same device: there, the chunk's pages appear a second time.
        let window = self.devices[chunk.device].window;
        if *owner != chunk.device
            || window
                .replace(address - window.base, size, Some((window.file(), chunk.offset)))
                .is_err()
        {
            return Err(OUT_OF_MEMORY);
        }
        chunk.mappings += 1;
        let device = chunk.device;
        self.add(context, device, address, size, Kind::Mapped { handle, devices: Vec::new() });
        Ok(())
    }

    /// The mappings that make up a range, all of it.
    fn mappings(&self, address: u64, size: u64) -> Result<Vec<u64>> {
        let (mut at, end) = (address, address + size);
        let mut found = Vec::new();
        while at < end {
            let region = self.regions.get(&at).ok_or(INVALID_VALUE)?;
            if !matches!(region.kind, Kind::Mapped { .. }) {
                return Err(INVALID_VALUE);
            }
            found.push(at);
            at = region.end();
        }
        if at == end { Ok(found) } else { Err(INVALID_VALUE) }
    }

    /// Ends mappings, at once: unlike `cuMemFree`, this waits for no work.
    pub fn unmap_chunks(&mut self, address: u64, size: u64) -> Result {
        for base in self.mappings(address, size)? {
            let Some(Kind::Mapped { handle, .. }) =
                self.regions.get(&base).map(|it| it.kind.clone())
            else {
                continue;
            };
            self.regions.remove(&base);
            if let Some(chunk) = self.chunks.alive.get_mut(&handle) {
                chunk.mappings -= 1;
                let window = self.devices[chunk.device].window;
                let length = chunk.size;
                window.replace(base - window.base, length, None).map_err(|_| INVALID_VALUE)?;
            }
            self.free_unused(handle);
        }
        Ok(())
    }

    /// Lets a device read and write mappings.
    pub fn set_access(&mut self, address: u64, size: u64, device: usize) -> Result {
        for base in self.mappings(address, size)? {
            if let Some(region) = self.regions.get_mut(&base)
                && let Kind::Mapped { devices, .. } = &mut region.kind
                && !devices.contains(&device)
            {
                devices.push(device);
                devices.sort_unstable();
            }
        }
        Ok(())
    }
}

fn check(size: u64) -> Result {
    if size > 0 && size.is_multiple_of(BLOCK) { Ok(()) } else { Err(INVALID_VALUE) }
}
