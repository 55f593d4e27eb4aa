//! The owners that work in flight retains.

use std::any::Any;

/// An owner that keeps memory valid.
pub type Retained = Box<dyn Any + Send + Sync>;

/// The owners that were retained for work that is now complete.  The receiver chooses where to drop
/// them.
#[derive(Debug, Default)]
pub struct Completed(Vec<Retained>);

impl Completed {
    pub(super) fn add(&mut self, retained: Retained) {
        self.0.push(retained);
    }

    /// Adds all owners of another one.
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// The number of owners.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no owners.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
