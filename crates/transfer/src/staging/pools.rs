//! Shares worker threads and pinned memory among the devices of the process.
//!
//! Devices of one NUMA node share threads, which touch host memory only, so an idle device keeps none from
//! the others, and a reset ends none.  Pinned memory is divided, because a device cannot be asked for some while it
//! is busy.

use super::machine::Home;
use super::workers::Workers;
use arrow_cuda_context::Device;
use arrow_cuda_driver::{CudaResult, Lock};
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

static POOLS: Lock<Vec<Pool>> = Lock::new(Vec::new());

/// The threads of one home, and the devices that have used them.
struct Pool {
    home: Arc<Home>,
    devices: BTreeSet<u32>,
    workers: Arc<Workers>,
}

impl Pool {
    /// The threads, if each device may have `threads` of them.  Earlier ones end with the copies that use them.
    fn workers(&mut self, threads: usize) -> Arc<Workers> {
        let wanted = self.home.threads_for(self.devices.len(), threads);
        if self.workers.wanted() != wanted {
            self.workers = Arc::new(Workers::start(wanted, &self.home));
        }
        self.workers.clone()
    }
}

/// The worker threads that a device shares with others, when each of them may have `threads`.
pub(super) fn workers_of(device: Device, threads: usize) -> CudaResult<Arc<Workers>> {
    Ok(pool_of(&mut *POOLS.lock()?, device).workers(threads))
}

/// Where the threads and the pinned memory of a device belong.
pub(super) fn home_of(device: Device) -> Arc<Home> {
    // A forked child copies nothing.
    POOLS.lock().map(|mut pools| pool_of(&mut pools, device).home.clone()).unwrap_or_default()
}

/// Ends the threads once the copies that use them are complete, and has the next copies look at the machine
/// again.
pub(super) fn forget() {
    drop(POOLS.lock().map(|mut pools| pools.clear()));
}

fn pool_of(pools: &mut Vec<Pool>, device: Device) -> &mut Pool {
    let number = device.number();
    let known = pools.iter().position(|pool| pool.devices.contains(&number));
    let at = known.unwrap_or_else(|| {
        let home = Home::of(device);
        pools.iter().position(|pool| *pool.home == home).unwrap_or_else(|| {
            let home = Arc::new(home);
            pools.push(Pool { home, devices: BTreeSet::new(), workers: Arc::default() });
            pools.len() - 1
        })
    });
    pools[at].devices.insert(number);
    &mut pools[at]
}

/// How many devices the process has, used or not: to release pinned memory waits for a device, whose work
/// may in turn wait for the one that begins to copy.  So the shares do not depend on who copies.
pub(super) fn devices() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| Device::count().map_or(1, |count| count as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_end_when_another_device_shares_more_of_them() {
        let home = Arc::new(Home { cores: 8, ..Home::default() });
        let mut pool = Pool { home, devices: BTreeSet::from([0]), workers: Arc::default() };
        let of_one_device = Arc::downgrade(&pool.workers(2));
        assert!(of_one_device.upgrade().is_some_and(|workers| workers.wanted() == 2));
        pool.devices.insert(1);
        assert_eq!(pool.workers(2).wanted(), 4);
        assert!(of_one_device.upgrade().is_none());
    }
}
