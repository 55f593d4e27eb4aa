//! Comparisons on the device: each byte counts, at any place and alignment.

#[path = "common/exact.rs"]
mod exact;
#[path = "../../driver/tests/common/simulator.rs"]
mod simulator;

use arrow_cuda_buffer::{DeviceBuffer, Error};
use arrow_cuda_context::Context;
use exact::upload;
use proptest::prelude::*;
use simulator::{count_of, with_settings};

/// A block compares this many bytes in a step.
const TILE: usize = 16 << 10;
/// How many blocks there are at most.  With more tiles than that, each block takes a second one.
const MAX_BLOCKS: usize = 132 * 16;

/// Equal bytes at places with these remainders modulo 128.
struct Case {
    bytes: Vec<u8>,
    left: DeviceBuffer,
    right: DeviceBuffer,
}

impl Case {
    fn new(left: usize, right: usize, size: usize) -> Self {
        let context = Context::primary(0).expect("a device");
        let bytes: Vec<u8> = (0..size).map(|at| ((at * 37) >> 2) as u8).collect();
        let side = |before: usize| {
            let whole = upload(&context, &[&vec![0xEE; before], &bytes[..]].concat());
            whole.slice_with_length(before, size).expect("within")
        };
        Self { left: side(left), right: side(right), bytes }
    }

    /// Equal bytes compare equal, and a changed bit is found at each of these places.
    fn check(&self, places: impl IntoIterator<Item = usize>) {
        let are_equal = || self.left.equals(&self.right).expect("a comparison");
        let size = self.bytes.len();
        assert!(are_equal(), "{size} equal bytes");
        for place in places {
            let byte = self.bytes[place];
            let changed = self.right.slice(place..=place).expect("within");
            let change = |byte| changed.copy_from_host(&[byte]).expect("a copy");
            change(byte ^ 1 << (place % 8));
            assert!(!are_equal(), "byte {place} of {size}");
            change(byte);
        }
    }
}

#[test]
fn small_sizes_at_all_alignments() {
    for (left, right) in (0..16).flat_map(|left| (0..16).map(move |right| (left, right))) {
        for size in [1, 16, 33, 143, 175] {
            Case::new(left, right, size).check([0, size / 2, size - 1]);
        }
    }
}

#[test]
fn every_byte_counts() {
    for (left, right) in [(0, 0), (5, 5), (0, 1), (3, 8), (127, 12), (120, 2)] {
        Case::new(left, right, 600).check(0..600);
    }
}

#[test]
fn every_part_of_a_tile_counts() {
    // Six tiles, and a partial one.
    let size = 6 * TILE + 1000 * 16 + 9;
    let places = [1, TILE, 4 * TILE, 6 * TILE, size - 1].map(|at| [at - 1, at]);
    for (left, right) in [(0, 0), (1, 1), (0, 1), (3, 8), (8, 3), (64, 76)] {
        Case::new(left, right, size).check(places.concat());
    }
}

#[test]
fn every_word_of_a_step_counts() {
    // Two tiles: in the second one, a byte of each word of each of a thread's vectors.
    let step = (0..4).flat_map(|row| (0..4).map(move |word| row * TILE / 4 + word * 4));
    let places: Vec<_> = step.map(|at| TILE + 128 + at + at / 4 % 4).collect();
    for right in 0..16 {
        Case::new(0, right, 2 * TILE + 256).check(places.iter().copied());
    }
}

#[test]
fn blocks_take_turns() {
    for right in [0, 1] {
        let size = (MAX_BLOCKS + 1) * TILE + 300;
        Case::new(0, right, size).check([size - 200 - TILE / 2]);
    }
}

#[test]
fn a_comparison_that_fails_leaves_no_module() {
    with_settings(&[("CUDA_SIM_FAULT", "cuMemAlloc:3=2")], || {
        let Case { left, right, .. } = Case::new(0, 0, 100);
        let failed = left.equals(&right);
        assert!(matches!(failed, Err(Error::Cuda(error)) if error.is_out_of_memory()));
        assert_eq!(left.equals(&right), Ok(true));
        assert_eq!(count_of(c"cuModuleLoadData"), Some(1), "the first one was never unloaded");
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn any_difference_is_found(
        left in 0..128usize, right in 0..128usize, size in 1..20_000usize, place in any::<usize>(),
    ) {
        Case::new(left, right, size).check([place % size]);
    }
}
