//! Shares worker threads and pinned memory among the devices of the process.
//!
//! Devices of one NUMA node share threads, which touch host memory only, so an idle device keeps none from
//! the others.  Pinned memory is divided, because a device cannot be asked for some while it is busy.

use super::machine::Home;
use super::workers::Workers;
use arrow_cuda_context::Device;
use arrow_cuda_driver::{CudaResult, Lock};
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock, Weak};

static POOLS: Lock<Vec<Pool>> = Lock::new(Vec::new());

/// The threads of one home, which the engines of its devices own.
struct Pool {
    home: Arc<Home>,
    devices: BTreeSet<u32>,
    workers: Weak<Workers>,
}

/// The worker threads that a device shares with others, when each of them may have `threads`.
pub(super) fn workers_of(device: Device, threads: usize) -> CudaResult<Arc<Workers>> {
    let mut pools = POOLS.lock()?;
    let pool = pool_of(&mut pools, device);
    let wanted = pool.home.threads_for(pool.devices.len(), threads);
    let present = pool.workers.upgrade().filter(|workers| workers.wanted() == wanted);
    let workers = present.unwrap_or_else(|| Arc::new(Workers::start(wanted, &pool.home)));
    pool.workers = Arc::downgrade(&workers);
    Ok(workers)
}

/// Where the threads and the pinned memory of a device belong.
pub(super) fn home_of(device: Device) -> Arc<Home> {
    // A forked child copies nothing.
    POOLS.lock().map(|mut pools| pool_of(&mut pools, device).home.clone()).unwrap_or_default()
}

/// Has the next copies look at the machine again.
pub(super) fn forget() {
    drop(POOLS.lock().map(|mut pools| pools.clear()));
}

fn pool_of(pools: &mut Vec<Pool>, device: Device) -> &mut Pool {
    let number = device.number();
    let known = pools.iter().position(|pool| pool.devices.contains(&number));
    let at = known.unwrap_or_else(|| {
        let home = Home::of(device);
        pools.iter().position(|pool| *pool.home == home).unwrap_or_else(|| {
            let (home, devices) = (Arc::new(home), BTreeSet::new());
            pools.push(Pool { home, devices, workers: Weak::new() });
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
