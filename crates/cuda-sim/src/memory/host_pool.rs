//! The pools of page-locked memory.

use std::collections::BTreeMap;

#[derive(Default)]
pub struct HostPools {
    /// The devices that can access the memory of each pool, by its handle.
    pub devices: BTreeMap<u64, Vec<usize>>,
    pub last: u64,
}
