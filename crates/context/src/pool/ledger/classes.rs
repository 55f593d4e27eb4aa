//! Classes of sizes: how much memory a block takes, and how much the driver is asked for at a time.
//!
//! A segment holds blocks of one class.  So a small block that stays in use for long holds back no
//! segment that a large one could use.

/// The driver's own block size, of which a segment is a multiple.
pub(crate) const SEGMENT: u64 = 2 << 20;
pub(crate) const MAX_SMALL: u64 = 1 << 20;
pub(crate) const MIN_LARGE: u64 = 16 << 20;
/// Blocks begin at multiples of this, as the driver's do.
pub(crate) const ALIGNMENT: u64 = 512;
/// A large block always gets a vacant segment that is larger by at most one part in this many.
const TOLERANCE_DIVISOR: u64 = 6;

/// A class of sizes: up to 1 MiB, below 16 MiB, and from there on.
///
/// ```
/// use arrow_cuda_context::{Block, Context, Placement, SizeClass, memory_segments};
///
/// let context = Context::primary(0)?;
/// let block = Block::allocate(&context, 100, Placement::Packed)?;
/// assert_eq!(memory_segments()[0].class, SizeClass::Small);
/// # Ok::<(), arrow_cuda_context::CudaError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SizeClass {
    /// Many share a segment: the class grows by an eighth with each, up to a limit.
    Small,
    /// Some share a segment: the class doubles what it has with each, up to a limit.
    Medium,
    /// Each segment is as large as the block that it is made for.
    Large,
}

impl SizeClass {
    /// Its name, in words.
    ///
    /// ```
    /// use arrow_cuda_context::SizeClass;
    ///
    /// assert_eq!(SizeClass::Medium.name(), "medium");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Medium => "medium",
            Self::Large => "large",
        }
    }
}

impl SizeClass {
    pub(crate) const COUNT: usize = 3;

    pub(crate) fn of(size: u64) -> Self {
        match size {
            ..=MAX_SMALL => Self::Small,
            MIN_LARGE.. => Self::Large,
            _ => Self::Medium,
        }
    }

    pub(crate) fn capacity(self, size: u64) -> u64 {
        size.checked_next_multiple_of(self.step()).unwrap_or(size)
    }

    /// A block that is larger by less than this is not split.
    pub(crate) fn step(self) -> u64 {
        match self {
            Self::Small => ALIGNMENT,
            Self::Medium => MAX_SMALL / 16,
            Self::Large => SEGMENT,
        }
    }

    /// The size of a new segment for a block of that capacity, if the class has `reserved` bytes.
    pub(crate) fn segment(self, capacity: u64, reserved: u64) -> u64 {
        let size = match self {
            Self::Small => capacity.max((reserved / 8).min(MIN_LARGE / 2)),
            Self::Medium => capacity.max(reserved.min(2 * MIN_LARGE)),
            Self::Large => capacity,
        };
        size.checked_next_multiple_of(SEGMENT).unwrap_or(size)
    }
}

/// The largest unused segment that a large block of that capacity gets while memory is scarce, if `room` bytes
/// may be left over.  To split any would leave parts that fit nothing: with sizes up to 256 MiB, a third of the
/// memory was lost that way (simulated).
pub(crate) fn largest_split(capacity: u64, room: u64) -> u64 {
    // Twice as much while parts that fit nothing are few.
    let divisor = if room > 0 { TOLERANCE_DIVISOR / 2 } else { TOLERANCE_DIVISOR };
    capacity.saturating_add((capacity / divisor).max(room))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_block_wastes_little_and_a_segment_at_most_doubles_its_class(
            size in prop_oneof![1u64..5000, 1u64..1 << 25, 1u64..1 << 50], reserved in 0u64..1 << 40,
        ) {
            let class = SizeClass::of(size);
            let capacity = class.capacity(size);
            prop_assert!(capacity >= size && capacity.is_multiple_of(ALIGNMENT));
            prop_assert!(capacity - size < ALIGNMENT || (capacity - size) * 8 <= size);
            let segment = class.segment(capacity, reserved);
            prop_assert!(segment >= capacity && segment.is_multiple_of(SEGMENT));
            prop_assert!(segment <= capacity.max(reserved).next_multiple_of(SEGMENT));
        }
    }

    #[test]
    fn impossible_sizes_are_left_to_the_driver() {
        assert_eq!(SizeClass::Large.capacity(u64::MAX), u64::MAX);
        assert_eq!(SizeClass::Large.segment(u64::MAX, 0), u64::MAX);
        assert_eq!(largest_split(u64::MAX, 1), u64::MAX);
    }

    #[test]
    fn less_is_tolerated_once_no_more_may_be_left_over() {
        assert_eq!([0, 1, 300].map(|room| largest_split(600, room)), [700, 800, 900]);
    }
}
