//! All memory that calls may name: of devices, of the host, and of other processes.

mod allocator;
mod chunk;
mod chunks;
mod device;
mod host_pool;
mod host_pools;
mod ipc_handle;
mod region;
mod sharing;
mod window;

pub use allocator::BLOCK;
pub use ipc_handle::{HANDLE_BYTES, IpcHandle};
pub use region::{Kind, Region};
pub use window::Window;

use std::collections::BTreeMap;

use chunk::Chunks;
use device::DeviceMemory;
use host_pool::HostPools;

use crate::base::code::{INVALID_VALUE, OUT_OF_MEMORY, Result};
use crate::base::{READ_WRITE, map, unmap};
use crate::contexts::Context;

/// Where memory lies for the host.
pub struct Resolved {
    pub contents: usize,
    pub is_on_host: bool,
}

pub struct Memory {
    /// By address; none of them overlap.
    pub regions: BTreeMap<u64, Region>,
    pub devices: Vec<DeviceMemory>,
    pub chunks: Chunks,
    host_pools: HostPools,
    /// Pages of the host that are no region any more, though a copy or kernel that has begun may use them: where they
    /// begin, and their size.
    retired: Vec<(u64, u64)>,
    last_id: u64,
}

impl Memory {
    pub fn new(windows: &[&'static Window], total: u64) -> Self {
        Self {
            regions: BTreeMap::new(),
            devices: windows.iter().map(|window| DeviceMemory::new(window, total)).collect(),
            chunks: Chunks::default(),
            host_pools: HostPools::default(),
            retired: Vec::new(),
            last_id: 0,
        }
    }

    pub fn allocate(&mut self, context: &'static Context, size: u64, kind: Kind) -> Result<u64> {
        if size == 0 {
            return Err(INVALID_VALUE);
        }
        let base = self.devices[context.device].allocate(size).ok_or(OUT_OF_MEMORY)?;
        self.devices[context.device].window.soil(base, size);
        self.add(context, context.device, base, size, kind);
        Ok(base)
    }

    /// Allocates page-locked or managed memory: ordinary pages, which read as zeros.
    pub fn allocate_on_host(
        &mut self,
        context: &'static Context,
        size: u64,
        kind: Kind,
    ) -> Result<u64> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let base = map(0, size, READ_WRITE, flags, -1, 0).map_err(|_| OUT_OF_MEMORY)? as u64;
        self.add(context, context.device, base, size, kind);
        Ok(base)
    }

    /// Lets calls use memory of a device, or of the host.
    pub fn add(
        &mut self,
        context: &'static Context,
        device: usize,
        base: u64,
        size: u64,
        kind: Kind,
    ) {
        self.last_id += 1;
        let (id, is_being_freed) = (self.last_id, false);
        let region = Region { base, size, id, device, context, kind, is_being_freed };
        self.regions.insert(base, region);
    }

    /// Ends the region that starts at `base`: its addresses are invalid from now on.
    pub fn release(&mut self, base: u64) {
        let Some(region) = self.regions.remove(&base) else {
            return;
        };
        let device = &mut self.devices[region.device];
        match region.kind {
            Kind::Device { is_exported } => {
                if is_exported {
                    device.window.set_export(base - device.window.base, 0);
                }
                device.free(base, region.size);
            }
            Kind::Pool => device.free(base, region.size),
            Kind::Imported { .. } => device.detach(base, region.size),
            // Its chunk outlives contexts.
            Kind::Mapped { .. } => {}
            Kind::Managed | Kind::Pinned | Kind::HostPool { .. } => {
                self.retired.push((base, region.size));
            }
            Kind::Registered { .. } => {}
        }
    }

    /// Unmaps pages that were allocated on the host, once no work is in flight.
    pub fn unmap_retired(&mut self) {
        self.retired.drain(..).for_each(|(base, size)| unmap(base, size));
    }

    /// Ends a region that was found earlier.  Fails if another thread has ended it meanwhile.
    pub fn release_found(&mut self, found: &Region) -> Result {
        self.regions.get(&found.base).filter(|now| now.id == found.id).ok_or(INVALID_VALUE)?;
        self.release(found.base);
        Ok(())
    }

    pub fn containing(&self, address: u64) -> Option<&Region> {
        let (_, region) = self.regions.range(..=address).next_back()?;
        (address < region.end()).then_some(region)
    }

    fn covering(&self, address: u64, length: u64) -> Option<&Region> {
        let end = address.checked_add(length)?;
        let first = self.containing(address).filter(|region| region.has_access())?;
        let mut reached = first.end();
        while reached < end {
            // A range may lie in several chunks that the same devices can access.
            let next = self.regions.get(&reached).filter(|next| next.continues(first))?;
            reached = next.end();
        }
        Some(first)
    }

    /// Decides, for every call, whether it may use `length` bytes at `address`.  Fails unless all of
    /// them lie in one live region.
    pub fn resolve(&self, address: u64, length: u64) -> Result<Resolved> {
        let region = self.covering(address, length).ok_or(INVALID_VALUE)?;
        let is_on_host = region.is_on_host();
        Ok(Resolved {
            contents: match is_on_host {
                true => address as usize,
                false => self.devices[region.device].window.contents_of(address),
            },
            is_on_host,
        })
    }

    /// Like [`Memory::resolve`], for calls that use only memory which the context can access.  Fails
    /// for memory of a device without peer access.
    pub fn resolve_accessible(
        &self,
        context: &Context,
        address: u64,
        length: u64,
    ) -> Result<Resolved> {
        let region = self.covering(address, length);
        region.filter(|region| region.is_accessible_from(context)).ok_or(INVALID_VALUE)?;
        self.resolve(address, length)
    }

    /// Whether a range begins in memory that the driver refuses to write to.
    pub fn is_read_only(&self, address: u64) -> bool {
        self.containing(address).is_some_and(Region::is_read_only)
    }

    pub fn is_of_host_pool(&self, address: u64) -> bool {
        self.containing(address).is_some_and(|it| matches!(it.kind, Kind::HostPool { .. }))
    }

    /// The region of an address, if kernels of a context can access it, and where its contents are.
    pub fn accessible(&self, context: &Context, address: u64) -> Option<(&Region, Resolved)> {
        let region = self.containing(address)?;
        let resolved = self.resolve_accessible(context, region.base, region.size).ok()?;
        Some((region, resolved))
    }

    /// Whether the range begins in memory that one call has pinned, or managed, and ends beyond it.  A driver copies no
    /// such range.  Where it only ends in such memory, all of it counts as pageable.
    pub fn leaves_pinned(&self, address: u64, length: u64) -> bool {
        let first = self.containing(address).filter(|region| region.is_on_host());
        first.is_some_and(|region| region.end() < address.saturating_add(length))
    }

    /// Whether any byte of the range is reserved for device addresses, which no host may touch.
    pub fn is_device_address(&self, address: u64, length: u64) -> bool {
        let last = address.saturating_add(length.saturating_sub(1));
        let mut windows = self.devices.iter().map(|device| device.window);
        windows.any(|window| window.contains(address) || window.contains(last))
    }
}
