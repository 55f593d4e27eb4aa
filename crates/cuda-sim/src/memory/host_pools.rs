//! Pools of page-locked memory, which the host accesses at once, and devices once they are allowed to.

use super::{Kind, Memory};
use crate::base::code::{INVALID_VALUE, Result};
use crate::contexts::Context;

impl Memory {
    pub fn create_host_pool(&mut self) -> u64 {
        self.host_pools.last += 1;
        self.host_pools.devices.insert(self.host_pools.last, Vec::new());
        self.host_pools.last
    }

    pub fn allocate_from_host_pool(
        &mut self,
        context: &'static Context,
        size: u64,
        pool: u64,
    ) -> Result<u64> {
        let devices = self.host_pools.devices.get(&pool).ok_or(INVALID_VALUE)?.clone();
        self.allocate_on_host(context, size, Kind::HostPool { pool, devices })
    }

    /// Lets a device access what the pool has allocated, and will.
    pub fn let_access_host_pool(&mut self, of: u64, device: usize) -> Result {
        let known = self.host_pools.devices.get_mut(&of).ok_or(INVALID_VALUE)?;
        let allocated = self.regions.values_mut().filter_map(|region| match &mut region.kind {
            Kind::HostPool { pool, devices } if *pool == of => Some(devices),
            _ => None,
        });
        for devices in std::iter::once(known).chain(allocated) {
            if !devices.contains(&device) {
                devices.push(device);
            }
        }
        Ok(())
    }
}
