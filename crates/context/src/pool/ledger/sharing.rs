//! Blocks that other processes can reach, with the whole segment that they lie in.

use super::blocks::{Access, State};
use super::entries::Ledger;

impl Ledger {
    /// Widens the access to the block in use at an address.  Returns where it begins.
    pub(crate) fn widen(&mut self, address: u64, access: Access) -> Option<u64> {
        let (start, block) = self.containing(address)?;
        let State::InUse(known) = block.state else { return None };
        self.block_mut(start).state = State::InUse(known.max(access));
        Some(start)
    }

    /// Lends the block in use at an address.  Returns what holds residue of earlier buffers in its
    /// segment, as addresses and sizes: nobody gets it before
    /// [`finish_sharing`](Self::finish_sharing).  What others use there stays as it is.
    pub(crate) fn share(&mut self, address: u64) -> Option<Vec<(u64, u64)>> {
        let start = self.widen(address, Access::Lent)?;
        let block = self.blocks[&start];
        let within = self.blocks.range(self.segments[&block.segment].addresses());
        let unclean = within.filter(|(_, it)| it.state == State::Ready && it.has_residue);
        let mut residue: Vec<_> = unclean.map(|(at, it)| (*at, it.capacity)).collect();
        for (at, capacity) in &residue {
            self.take(*at, *capacity, 0);
            self.block_mut(*at).state = State::Withheld;
        }
        let unused = block.capacity - block.size;
        if block.has_residue && unused > 0 {
            residue.push((start + block.size, unused));
        }
        Some(residue)
    }

    /// The residue that [`share`](Self::share) has returned is wiped, or not.  A wipe that failed may
    /// still be in flight.
    pub(crate) fn finish_sharing(&mut self, residue: &[(u64, u64)], is_wiped: bool) {
        for (address, _) in residue {
            if let Some(block) = self.blocks.get_mut(address)
                && block.state == State::Withheld
            {
                block.has_residue = false;
                self.end_use(*address, !is_wiped);
            }
        }
    }
}
