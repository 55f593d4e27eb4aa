//! Physical chunks, and ranges of addresses that are reserved for them.

use std::collections::BTreeMap;

#[derive(Default)]
pub struct Chunks {
    /// By handle.  A chunk lives until it is released and mapped nowhere.
    pub alive: BTreeMap<u64, Chunk>,
    /// The device and size of each range, by address.
    pub reserved: BTreeMap<u64, (usize, u64)>,
    pub last: u64,
}

pub struct Chunk {
    pub device: usize,
    pub offset: u64,
    pub size: u64,
    pub is_released: bool,
    pub mappings: usize,
}
