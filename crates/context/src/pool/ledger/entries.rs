//! The entries of a ledger: one for each block and segment, and counts of them.

use super::blocks::{Block, Segment};
use super::index::Index;
use super::slack::Slack;
use crate::pool::stats::Account;
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// By address.
    pub(super) blocks: BTreeMap<u64, Block>,
    /// By address.
    pub(super) segments: BTreeMap<u64, Segment>,
    pub(super) index: Index,
    /// The number of the last release of a block that was exposed.
    pub(crate) last_release: u64,
    pub(super) slack: Slack,
    /// The closed segments in which nothing is in use any more.
    pub(crate) finished: Vec<u64>,
    /// Nothing may be cached here, whatever the limit.
    pub(crate) caches_nothing: bool,
    /// Blocks share segments even where nothing may be cached: for many small allocations.
    pub(crate) always_shares: bool,
    pub(crate) account: Account,
}

impl Ledger {
    pub(super) fn block_mut(&mut self, address: u64) -> &mut Block {
        self.blocks.get_mut(&address).expect("the caller has found it")
    }

    pub(super) fn segment_mut(&mut self, address: u64) -> &mut Segment {
        self.segments.get_mut(&address).expect("a block lies in a segment")
    }

    /// Each segment, with its blocks and where they begin.
    pub(crate) fn segments(
        &self,
    ) -> impl Iterator<Item = (&Segment, impl Iterator<Item = (u64, &Block)>)> {
        self.segments.values().map(|segment| {
            let blocks = self.blocks.range(segment.addresses());
            (segment, blocks.map(|(address, block)| (*address, block)))
        })
    }

    /// The block that contains an address, and where it begins.
    pub(super) fn containing(&self, address: u64) -> Option<(u64, &Block)> {
        let (start, block) = self.blocks.range(..=address).next_back()?;
        (address - start < block.capacity).then_some((*start, block))
    }
}
