//! The memory manager of a context: its ledger, and the fences that tell when exposed blocks may be
//! reused.

use super::ledger::Ledger;
use crate::streams::Fences;
use crate::{Context, Extension};
use arrow_cuda_driver::Lock;
use std::convert::Infallible;

/// Code under the ledger's lock neither calls the driver nor waits for the GIL: a release, on any
/// thread, holds it for some nanoseconds.
#[derive(Debug, Default)]
pub(super) struct Manager {
    pub(super) ledger: Lock<Ledger>,
    /// Taken before the ledger's lock.
    pub(super) fences: Lock<Fences>,
}

impl Extension for Manager {
    fn abandon(&self) {
        // In a forked child nothing can be saved.
        let fences = self.fences.lock().map(|mut fences| std::mem::take(&mut *fences));
        drop(fences); // under no lock: they own contexts, this one too
        if let Ok(mut ledger) = self.ledger.lock() {
            ledger.abandon();
        }
    }
}

impl Context {
    pub(super) fn manager(&self) -> &Manager {
        let made = self.extension_or(|| Ok::<_, Infallible>(Manager::default()));
        made.unwrap_or_else(|never| match never {})
    }
}
