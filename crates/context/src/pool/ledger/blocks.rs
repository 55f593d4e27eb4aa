//! The blocks that tile the segments, and their states.
//!
//! A released block is *ready* at once if only this package's work used it, and that work is complete.  Otherwise it
//! is *in flight*, until there is evidence that all work that may use it is complete.  It is *withheld* while its
//! bytes are wiped, or its segment is about to go back to the driver.
//!
//! Releases of blocks in flight are numbered.  Evidence is one number: it covers all releases up to it.  Ready
//! neighbours merge.

use super::classes::SizeClass;
use crate::pool::stats::Account;
use std::ops::Range;

/// Memory that the driver has allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) address: u64,
    pub(crate) capacity: u64,
    pub(crate) class: SizeClass,
    /// Whether its released blocks may be reused.  Otherwise it goes back to the driver with its last block.
    pub(super) is_open: bool,
    /// The number of blocks that somebody uses, or wipes.
    pub(super) in_use: usize,
    /// Its number among the vacant segments, if it is one ready block.
    pub(super) vacant_since: u64,
    /// Whether work in flight may use a part of it that was released and will not be reused.
    pub(crate) may_have_users: bool,
}

impl Segment {
    pub(super) fn addresses(&self) -> Range<u64> {
        self.address..self.address + self.capacity
    }

    /// Whether it is cached, because nothing in it is in use.
    pub(super) fn is_unused(&self) -> bool {
        self.is_open && self.in_use == 0
    }

    pub(super) fn begin_use(&mut self, account: &mut Account) {
        if self.is_unused() {
            account.stats.cached_bytes -= self.capacity;
            account.stats.cached_blocks -= 1;
        }
        self.in_use += 1;
    }

    pub(super) fn end_use(&mut self, account: &mut Account) {
        self.in_use -= 1;
        if self.is_unused() {
            account.stats.cached_bytes += self.capacity;
            account.stats.cached_blocks += 1;
        }
    }
}

/// Who may reach the memory of a block in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Access {
    /// This process.
    Process,
    /// Other processes, as long as the block is in use.
    Lent,
    /// Other processes, without a time limit.
    Exported,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    InUse(Access),
    Ready,
    InFlight {
        release: u64,
    },
    /// Released, but nobody gets it: its bytes are being wiped, or its segment goes back to the driver.
    Withheld,
}

/// Who may use a [`MemoryBlock`](crate::MemoryBlock).
///
/// ```
/// use arrow_cuda_context::{Block, BlockState, Context, Placement, memory_segments};
///
/// let context = Context::primary(0)?;
/// let block = Block::allocate(&context, 100, Placement::Packed)?;
/// let blocks = memory_segments().into_iter().flat_map(|segment| segment.blocks);
/// assert!(blocks.filter(|it| it.state == BlockState::InUse).count() == 1);
/// # Ok::<(), arrow_cuda_context::CudaError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BlockState {
    /// This process, until it releases the block.
    InUse,
    /// Other processes, too, or still.
    Shared,
    /// Work in flight: the block is released.
    InFlight,
    /// Nobody: the block is cached, or on its way to the driver.
    Free,
}

impl BlockState {
    /// Its name, in words.
    ///
    /// ```
    /// use arrow_cuda_context::BlockState;
    ///
    /// assert_eq!(BlockState::InFlight.name(), "in flight");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Self::InUse => "in use",
            Self::Shared => "shared",
            Self::InFlight => "in flight",
            Self::Free => "free",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub(super) segment: u64,
    pub(crate) capacity: u64,
    /// The requested size, in bytes, of a block in use.
    pub(super) size: u64,
    pub(super) state: State,
    /// Whether it is all of its segment, and stays so while it is in use.
    pub(super) is_alone: bool,
    /// Whether bytes that nobody has written since may hold residue of earlier buffers.
    pub(super) has_residue: bool,
}

impl Block {
    /// Its address and the size that was asked for, if it is in use.
    pub(crate) fn in_use(&self, address: u64) -> Option<(u64, u64)> {
        matches!(self.state, State::InUse(_)).then_some((address, self.size))
    }

    pub(crate) fn public_state(&self) -> BlockState {
        match self.state {
            State::InUse(Access::Process) => BlockState::InUse,
            State::InUse(Access::Lent | Access::Exported) => BlockState::Shared,
            State::InFlight { .. } => BlockState::InFlight,
            State::Ready | State::Withheld => BlockState::Free,
        }
    }

    /// Splits it after its first `capacity` bytes.  Returns the second block.
    pub(super) fn split(&mut self, capacity: u64) -> Self {
        let rest = Self { capacity: self.capacity - capacity, size: 0, is_alone: false, ..*self };
        self.capacity = capacity;
        rest
    }
}
