//! Allocating, copying, filling and freeing against a naive model: a list of byte vectors.

use crate::common::*;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// Indices are modulo the number of live allocations, offsets modulo a little more than the size.
#[derive(Clone, Debug)]
enum Step {
    Alloc(usize),
    Free(usize),
    Write { to: usize, at: usize, bytes: Vec<u8> },
    Fill { to: usize, at: usize, value: u8, count: usize },
    Copy { to: usize, at: usize, from: usize, source: usize, count: usize },
    Read { from: usize, at: usize, count: usize },
}

struct Block {
    address: u64,
    bytes: Vec<u8>,
}

impl Block {
    /// The range, if it lies in the block.
    fn range(&mut self, at: usize, count: usize) -> Option<&mut [u8]> {
        self.bytes.get_mut(at..at + count)
    }

    fn offset(&self, at: usize) -> usize {
        at % (self.bytes.len() + 2)
    }
}

fn step() -> impl Strategy<Value = Step> {
    // No small block ends where its neighbour can begin: after the end there is nothing.
    let small = (0..4_usize, 1..510_usize).prop_map(|(units, rest)| 512 * units + rest);
    let size = prop_oneof![small, Just(MIB), Just(MIB + 1), Just(5 * MIB)];
    let at = 0..3000_usize;
    let count = 1..1000_usize;
    let which = any::<usize>();
    let bytes = prop::collection::vec(any::<u8>(), 1..1000);
    prop_oneof![
        3 => size.prop_map(Step::Alloc),
        1 => which.prop_map(Step::Free),
        4 => (which, at.clone(), bytes).prop_map(|(to, at, bytes)| Step::Write { to, at, bytes }),
        2 => (which, at.clone(), any::<u8>(), count.clone())
            .prop_map(|(to, at, value, count)| Step::Fill { to, at, value, count }),
        4 => (which, at.clone(), which, at.clone(), count.clone()).prop_map(
            |(to, at, from, source, count)| Step::Copy { to, at, from, source, count }
        ),
        4 => (which, at, count).prop_map(|(from, at, count)| Step::Read { from, at, count }),
    ]
}

fn code(fits: bool) -> i32 {
    i32::from(!fits)
}

/// Does a step in both worlds and compares.
fn play(blocks: &mut Vec<Block>, step: Step) {
    if let Step::Alloc(size) = step {
        let (address, bytes) = (alloc(size), vec![0xA5; size]);
        assert_eq!(cuMemsetD8_v2(address, 0xA5, size), OK);
        return blocks.push(Block { address, bytes });
    }
    if blocks.is_empty() {
        return;
    }
    let count_of_blocks = blocks.len();
    match step {
        Step::Alloc(_) => {}
        Step::Free(which) => {
            let block = blocks.swap_remove(which % count_of_blocks);
            assert_eq!(cuMemFree_v2(block.address), OK);
            assert_eq!(read(block.address, 1), Err(1));
        }
        Step::Write { to, at, bytes } => {
            let block = &mut blocks[to % count_of_blocks];
            let at = block.offset(at);
            let answer = write(block.address + at as u64, &bytes);
            let range = block.range(at, bytes.len());
            assert_eq!(answer, code(range.is_some()));
            if let Some(range) = range {
                range.copy_from_slice(&bytes);
            }
        }
        Step::Fill { to, at, value, count } => {
            let block = &mut blocks[to % count_of_blocks];
            let at = block.offset(at);
            let answer = cuMemsetD8_v2(block.address + at as u64, value, count);
            let range = block.range(at, count);
            assert_eq!(answer, code(range.is_some()));
            if let Some(range) = range {
                range.fill(value);
            }
        }
        Step::Copy { to, at, from, source, count } => {
            let (to, from) = (to % count_of_blocks, from % count_of_blocks);
            let (at, source) = (blocks[to].offset(at), blocks[from].offset(source));
            if to == from && at.abs_diff(source) < count {
                return; // such a copy has no result to rely on
            }
            let target = blocks[to].address + at as u64;
            let answer = cuMemcpyDtoD_v2(target, blocks[from].address + source as u64, count);
            let bytes = blocks[from].range(source, count).map(|range| range.to_vec());
            let range = blocks[to].range(at, count);
            assert_eq!(answer, code(bytes.is_some() && range.is_some()));
            if let (Some(bytes), Some(range)) = (bytes, range) {
                range.copy_from_slice(&bytes);
            }
        }
        Step::Read { from, at, count } => {
            let block = &mut blocks[from % count_of_blocks];
            let at = block.offset(at);
            let answer = read(block.address + at as u64, count);
            assert_eq!(answer, block.range(at, count).map(|range| range.to_vec()).ok_or(1));
        }
    }
}

#[test]
fn memory_behaves_like_separate_vectors() {
    on_device(|_| {
        let config = Config { failure_persistence: None, ..Config::with_cases(32) };
        let steps = prop::collection::vec(step(), 1..150);
        let outcome = TestRunner::new(config).run(&steps, |steps| {
            // A case that failed leaves its allocations behind.
            let (before, mut blocks) = (cuda_sim_live_allocations(), Vec::new());
            for step in steps {
                play(&mut blocks, step);
            }
            for block in &mut blocks {
                assert_eq!(read(block.address, block.bytes.len()), Ok(block.bytes.clone()));
                assert_eq!(cuMemFree_v2(block.address), OK);
            }
            assert_eq!(cuda_sim_live_allocations(), before);
            Ok(())
        });
        outcome.unwrap_or_else(|failure| panic!("{failure}"));
    });
}
