//! Divides two ranges of device memory for kernels that load vectors from both.  Pure arithmetic.

use crate::kernels::{MAX_BLOCKS, THREADS};

/// Bytes in a vector, which a thread loads at once.
const VECTOR: u64 = 16;
/// Vectors that a block takes in a step, four for each thread.
const TILE: u64 = 4 * THREADS as u64;
/// The size of a cache line of the device.
const LINE: u64 = 128;

/// The bytes before, in and after the vectors that a kernel loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spans {
    /// Bytes that are taken one by one, up to where the left side is aligned.
    pub(crate) head: u64,
    pub(crate) vectors: u64,
    /// Bytes that are taken one by one, after the vectors.
    pub(crate) tail: u64,
}

impl Spans {
    /// The plan for `size` bytes at two addresses.
    ///
    /// The kernel reads the right side in aligned vectors, too.  If the right side's alignment differs, the
    /// kernel reads two of its vectors for each one of the left side.  Head and tail are long enough that the
    /// right side contains all vectors that are read.
    pub(crate) fn of(left: u64, right: u64, size: u64) -> Self {
        let mut head = left.wrapping_neg() % LINE;
        let before = right.wrapping_add(head) % VECTOR;
        if head < before {
            head += LINE;
        }
        let behind = before.wrapping_neg() % VECTOR;
        let vectors = size.saturating_sub(head + behind) / VECTOR;
        if vectors == 0 {
            return Self { head: size, vectors, tail: 0 };
        }
        Self { head, vectors, tail: size - head - vectors * VECTOR }
    }

    /// How many blocks work on the vectors: one per whole tile, and at least one per `THREADS` vectors of the
    /// rest.
    pub(crate) fn blocks(&self) -> u32 {
        let rest = (self.vectors % TILE).div_ceil(u64::from(THREADS));
        let blocks = u32::try_from((self.vectors / TILE).max(rest));
        blocks.map_or(MAX_BLOCKS, |blocks| blocks.clamp(1, MAX_BLOCKS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sizes() -> impl Strategy<Value = u64> {
        prop_oneof![0..600u64, 0..1u64 << 20, any::<u64>().prop_map(|size| size >> 20)]
    }

    proptest! {
        #[test]
        fn spans_cover_everything_and_no_vector_leaves_the_buffers(
            left in 1..u64::MAX >> 8, right in 1..u64::MAX >> 8, size in sizes(),
        ) {
            let spans = Spans::of(left, right, size);
            prop_assert_eq!(spans.head + spans.vectors * 16 + spans.tail, size);
            if spans.vectors > 0 {
                prop_assert_eq!((left + spans.head) % 128, 0);
                let first = (right + spans.head) / 16 * 16;
                prop_assert!(first >= right);
                let last = right + spans.head + spans.vectors * 16;
                prop_assert!(last.next_multiple_of(16) <= right + size);
            }
        }

        #[test]
        fn one_step_covers_vectors_outside_whole_tiles(
            left in any::<u64>(), right in any::<u64>(), size in sizes(),
        ) {
            let spans = Spans::of(left, right, size);
            prop_assert!(spans.head + spans.tail <= u64::from(THREADS));
            let threads = u64::from(spans.blocks()) * u64::from(THREADS);
            prop_assert!(spans.vectors % TILE <= threads);
            prop_assert!(spans.blocks() <= MAX_BLOCKS);
        }
    }

    #[test]
    fn large_parts_are_nearly_all_vectors() {
        for (left, right) in [(0, 0), (1, 1), (0, 1), (3, 8), (8, 3), (127, 0)] {
            let spans = Spans::of(1 << 40 | left, 1 << 41 | right, 1 << 30);
            assert!(spans.vectors >= (1 << 26) - 11, "{left} {right}: {spans:?}");
        }
    }
}
