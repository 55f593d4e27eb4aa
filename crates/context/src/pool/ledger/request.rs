//! Requests of allocations: how much memory, and whether it lies alone.

use super::classes::{ALIGNMENT, SizeClass};

/// Whether an allocation may share its segment with others.
///
/// A process that imports one of them can reach the whole segment, and finds the allocation by an
/// offset that other implementations of `pyarrow.cuda` do not know.  So memory that may be exported
/// gets a segment of its own, as long as that wastes little.
///
/// ```
/// use arrow_cuda_context::{Block, Context, Placement};
///
/// let context = Context::primary(0)?;
/// let alone = Block::allocate(&context, 1 << 20, Placement::Alone)?; // to be exported
/// let packed = Block::allocate(&context, 1 << 20, Placement::Packed)?;
/// assert!(!alone.shares_segment(&packed));
/// # Ok::<(), arrow_cuda_context::CudaError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Alone in its segment, unless too much memory is wasted that way already.
    Alone,
    /// With others.
    Packed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) size: u64,
    pub(crate) capacity: u64,
    pub(super) class: SizeClass,
    /// The bytes that its block takes if it is all of its segment, which it may be.
    pub(super) alone: Option<u64>,
    /// Whether it has to be that.
    pub(crate) is_alone: bool,
    /// Whether it may get released memory.
    pub(super) is_cacheable: bool,
}

impl Request {
    /// The request to fall back to if the driver has no room for a whole segment.
    pub(crate) fn packed(self) -> Self {
        let (alone, is_alone) = (None, false);
        Self { capacity: self.class.capacity(self.size), alone, is_alone, ..self }
    }
}

/// The bytes that an allocation of `size` bytes takes among several.
pub(crate) fn aligned(size: u64) -> u64 {
    size.checked_next_multiple_of(ALIGNMENT).unwrap_or(size)
}
