//! All memory of the process: what lives, and how much of each device is used.

use crate::code::{Code, INVALID_VALUE, OUT_OF_MEMORY};
use crate::context::Context;
use crate::ipc_handle::IpcHandle;
use crate::region::{Kind, Region, Regions};
use crate::space::{BLOCK, Space};
use crate::window::{self, READ_WRITE, Window};

/// Where memory lies for the host.
pub struct Resolved {
    /// Host address of the contents.
    pub contents: usize,
    pub is_on_host: bool,
}

pub struct Memory {
    pub regions: Regions,
    places: Vec<Place>,
    last_id: u64,
}

/// A device's memory.
struct Place {
    window: &'static Window,
    space: Space,
    total: u64,
    used: u64,
    free_slots: Vec<usize>,
    next_slot: usize,
}

impl Memory {
    /// Of devices with these windows and `total` bytes each.
    pub fn new(windows: &[&'static Window], total: u64) -> Self {
        let place = |&window: &&'static Window| Place {
            window,
            space: Space::new(window.allocatable()),
            total,
            used: 0,
            free_slots: Vec::new(),
            next_slot: 0,
        };
        Self {
            regions: Regions::default(),
            places: windows.iter().map(place).collect(),
            last_id: 0,
        }
    }

    /// Free and total bytes of a device.
    pub fn room(&self, device: usize) -> (u64, u64) {
        let place = &self.places[device];
        (place.total - place.used, place.total)
    }

    /// Memory of the context's device.
    ///
    /// # Errors
    /// `INVALID_VALUE` for no bytes, `OUT_OF_MEMORY`.
    pub fn allocate(
        &mut self,
        context: &'static Context,
        size: u64,
        kind: Kind,
    ) -> Result<u64, Code> {
        if size == 0 {
            return Err(INVALID_VALUE);
        }
        let place = &mut self.places[context.device];
        let footprint = Space::footprint(size).filter(|&size| size <= place.total - place.used);
        let (Some(footprint), Some(offset)) = (footprint, place.space.take(size)) else {
            return Err(OUT_OF_MEMORY);
        };
        place.used += footprint;
        place.drop_vacated();
        let base = place.window.base + offset;
        self.add(context, base, size, kind);
        Ok(base)
    }

    /// Page-locked or managed memory: ordinary pages, which read as zeros.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`.
    pub fn allocate_on_host(
        &mut self,
        context: &'static Context,
        size: u64,
        kind: Kind,
    ) -> Result<u64, Code> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let base =
            window::map(0, size, READ_WRITE, flags, -1, 0).map_err(|_| OUT_OF_MEMORY)? as u64;
        self.add(context, base, size, kind);
        Ok(base)
    }

    /// Lets calls use memory that somebody else owns.
    pub fn add(&mut self, context: &'static Context, base: u64, size: u64, kind: Kind) {
        self.last_id += 1;
        self.regions.insert(Region {
            base,
            size,
            id: self.last_id,
            device: context.device,
            context,
            kind,
            is_leaving: false,
        });
    }

    /// Ends the region that starts at `base`: its address is invalid from now on.
    pub fn release(&mut self, base: u64) {
        let Some(region) = self.regions.remove(base) else {
            return;
        };
        let place = &mut self.places[region.device];
        let offset = || base - place.window.base;
        match region.kind {
            Kind::Device { .. } | Kind::Pool => {
                if let Kind::Device { slot: Some(slot) } = region.kind {
                    place.window.publish(slot, 0);
                    place.free_slots.push(slot);
                }
                let offset = offset();
                place.used -= Space::footprint(region.size).unwrap_or(0);
                place.space.give(offset, region.size);
                place.drop_vacated();
            }
            Kind::Imported { .. } => {
                let (start, length) = import_span(offset(), region.size);
                // If the old pages stay mapped, the range is lost but nobody can name it.
                if place.window.detach(start, length).is_ok() {
                    place.space.give_blocks(start, length);
                    place.drop_vacated();
                }
            }
            Kind::Managed | Kind::Pinned => window::unmap(base, region.size),
            Kind::Registered => {}
        }
    }

    /// The one place that decides whether `length` bytes at `address` may be used by a call.
    ///
    /// # Errors
    /// `INVALID_VALUE` unless they lie in one live region.
    pub fn resolve(&self, address: u64, length: u64) -> Result<Resolved, Code> {
        let region = self.regions.covering(address, length).ok_or(INVALID_VALUE)?;
        let is_on_host = region.is_on_host();
        Ok(Resolved {
            contents: match is_on_host {
                true => address as usize,
                false => self.places[region.device].window.contents_of(address),
            },
            is_on_host,
        })
    }

    /// As [`resolve`](Self::resolve), for what works on memory that the context reaches only.
    ///
    /// # Errors
    /// `INVALID_VALUE` as there, and for memory of a device without peer access.
    pub fn resolve_reached(
        &self,
        context: &Context,
        address: u64,
        length: u64,
    ) -> Result<Resolved, Code> {
        let region = self.regions.covering(address, length);
        region.filter(|region| region.is_reached_by(context)).ok_or(INVALID_VALUE)?;
        self.resolve(address, length)
    }

    /// Whether any byte of the range is reserved for device addresses, which no host may touch.
    pub fn is_device_address(&self, address: u64, length: u64) -> bool {
        let last = address.saturating_add(length.saturating_sub(1));
        let mut windows = self.places.iter().map(|place| place.window);
        windows.any(|window| window.contains(address) || window.contains(last))
    }

    /// The handle of an allocation, which is announced to other processes.
    ///
    /// # Errors
    /// `INVALID_VALUE` for what is no memory of `cuMemAlloc`.
    pub fn export(&mut self, address: u64) -> Result<IpcHandle, Code> {
        let base = self.regions.containing(address).ok_or(INVALID_VALUE)?.base;
        let region = self.regions.at_mut(base).ok_or(INVALID_VALUE)?;
        let place = &mut self.places[region.device];
        let Kind::Device { slot } = &mut region.kind else {
            return Err(INVALID_VALUE);
        };
        let slot = match *slot {
            Some(slot) => slot,
            None => *slot.insert(place.announce(region.id)?),
        };
        Ok(IpcHandle {
            process: std::process::id(),
            descriptor: place.window.descriptor().cast_unsigned(),
            nonce: place.window.nonce,
            device: region.device as u32,
            slot: slot as u32,
            id: region.id,
            offset: base - place.window.base,
            size: region.size,
        })
    }

    /// Memory of another process; opened again, the same address.
    ///
    /// # Errors
    /// `INVALID_VALUE` when the exporter or its allocation is gone, `OUT_OF_MEMORY`.
    pub fn import(&mut self, context: &'static Context, handle: &IpcHandle) -> Result<u64, Code> {
        let opened = self.regions.iter().find_map(|region| match &region.kind {
            Kind::Imported { origin, .. } if origin == handle => Some(region.base),
            _ => None,
        });
        if let Some(base) = opened {
            self.count_open(base, 1);
            return Ok(base);
        }
        let device = handle.device as usize;
        let place = self.places.get_mut(device).ok_or(INVALID_VALUE)?;
        let file = window::open_foreign(handle).ok_or(INVALID_VALUE)?;
        let (skip, length) =
            (handle.offset % PAGE, import_span(handle.offset % PAGE, handle.size).1);
        let offset = place.space.take_blocks(length).ok_or(OUT_OF_MEMORY)?;
        if place.window.attach(offset, &file, handle.offset - skip, length).is_err() {
            place.space.give_blocks(offset, length);
            place.drop_vacated();
            return Err(OUT_OF_MEMORY);
        }
        let base = place.window.base + offset + skip;
        let origin = handle.clone();
        self.add(context, base, handle.size, Kind::Imported { origin, opens: 1 });
        if let Some(region) = self.regions.at_mut(base) {
            region.device = device;
        }
        Ok(base)
    }

    /// Counts opens of an import up or down; how many there are now.
    pub fn count_open(&mut self, base: u64, change: isize) -> Option<usize> {
        match &mut self.regions.at_mut(base)?.kind {
            Kind::Imported { opens, .. } => {
                *opens = opens.saturating_add_signed(change);
                Some(*opens)
            }
            _ => None,
        }
    }
}

/// Exported memory is mapped by whole pages.
const PAGE: u64 = 4096;

/// The pages that an import at `offset` maps: start and length.
fn import_span(offset: u64, size: u64) -> (u64, u64) {
    let start = offset - offset % PAGE;
    (start, (offset + size).next_multiple_of(PAGE) - start)
}

impl Place {
    /// Gives the memory of blocks back that became free.
    fn drop_vacated(&mut self) {
        for blocks in self.space.vacated() {
            self.window.forget(&blocks);
        }
    }

    fn announce(&mut self, id: u64) -> Result<usize, Code> {
        let slot = self.free_slots.pop().unwrap_or(self.next_slot);
        if !self.window.publish(slot, id) {
            return Err(OUT_OF_MEMORY);
        }
        self.next_slot = self.next_slot.max(slot + 1);
        Ok(slot)
    }
}

const _: () = assert!(BLOCK.is_multiple_of(PAGE));
