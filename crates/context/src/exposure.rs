//! Whether somebody outside this project may have the address of a block.

use std::sync::atomic::{AtomicBool, Ordering};

/// Private until the address is shown.  An exposed block serves again only when there is evidence that all work in
/// flight at its release is complete.
#[derive(Debug, Default)]
pub(crate) struct Exposure(AtomicBool);

impl Exposure {
    /// Work that nobody here knows may use the block from now on.
    pub(crate) fn expose(&self) {
        self.0.store(true, Ordering::Release);
    }

    pub(crate) fn is_exposed(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
