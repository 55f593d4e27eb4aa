//! Memory wasted by blocks that are alone in segments which others could share.

use super::classes::SEGMENT;

/// How much may be wasted.
pub(super) const MAX_SLACK: u64 = 48 << 20;
/// How much of that may be lost with blocks that were exported.
const MAX_LOST: u64 = 1 << 30;
/// Once the limit was reached, it holds until no more than one part in this many is wasted.  A program
/// that stays close to the limit would otherwise have the driver allocate a segment whenever a block is
/// released, although other segments have room.
const RESUME_DIVISOR: u64 = 4;

#[derive(Debug, Default)]
pub(super) struct Slack {
    pub(super) bytes: u64,
    /// The bytes wasted by exported blocks, which do not come back.
    pub(super) lost: u64,
    /// Whether the driver must not be asked for more memory that would be wasted.
    pub(super) is_spent: bool,
}

impl Slack {
    pub(super) fn room(&self) -> u64 {
        if self.lost > MAX_LOST { 0 } else { MAX_SLACK.saturating_sub(self.bytes) }
    }

    pub(super) fn add(&mut self, bytes: u64) {
        self.bytes += bytes;
        self.is_spent |= self.bytes + SEGMENT > MAX_SLACK;
    }

    pub(super) fn remove(&mut self, bytes: u64) {
        self.bytes -= bytes;
        self.is_spent &= self.bytes > MAX_SLACK / RESUME_DIVISOR;
    }
}
