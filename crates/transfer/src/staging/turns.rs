//! Says whose turn a staging slot is.

use super::sync::{AtomicUsize, Ordering};
use crossbeam_utils::CachePadded;

/// Who works on slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Copier,
    Issuer,
}

/// The stages of a job's slots.  Each side increments a slot's stage when it finishes its turn, and
/// thereby hands the slot's bytes to the other side.
#[derive(Debug)]
pub(super) struct Turns {
    first: Side,
    /// Each stage has a cache line of its own, to avoid false sharing.
    stages: Vec<CachePadded<AtomicUsize>>,
}

impl Turns {
    /// For `slots` slots, each of which is the turn of `first`.
    pub(super) fn of(first: Side, slots: usize) -> Self {
        Self { first, stages: (0..slots).map(|_| CachePadded::default()).collect() }
    }

    pub(super) fn slots(&self) -> usize {
        self.stages.len()
    }

    /// Whether a slot holds this piece, and it is the side's turn.
    pub(super) fn is(&self, side: Side, piece: usize) -> bool {
        self.stage(piece).load(Ordering::Acquire) == self.turn(side, piece)
    }

    pub(super) fn end(&self, side: Side, piece: usize) {
        self.stage(piece).store(self.turn(side, piece) + 1, Ordering::Release);
    }

    fn stage(&self, piece: usize) -> &AtomicUsize {
        &self.stages[piece % self.slots()]
    }

    /// The slot's stage at a side's turn on a piece.
    fn turn(&self, side: Side, piece: usize) -> usize {
        piece / self.slots() * 2 + usize::from(side != self.first)
    }
}
