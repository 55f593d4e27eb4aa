//! Runs the text of the kernel on bytes that differ or do not.

use super::kernel::source;
use super::spans::Spans;
use crate::kernels::THREADS;
use crate::kernels::memory::{Memory, Region};
use crate::kernels::ptx::Program;
use proptest::prelude::*;

const FOUND: u64 = 0x1000;
const ANSWER: u64 = 0x2000;
const TICKET: u64 = 7;

fn program() -> Program {
    let source = source().to_str().expect("PTX is UTF-8");
    Program::parse(source, "arrow_cuda_differs").expect("instructions that are known")
}

/// Two parts of memory that lie at addresses with these remainders modulo 128.
struct Case {
    program: Program,
    left: u64,
    right: u64,
}

impl Case {
    fn new(left: u64, right: u64) -> Self {
        Self { program: program(), left: 0x10_0000 + left, right: 0x90_0000 + right }
    }

    /// The kernel's answer, and how many bytes it has loaded.
    fn compare(&self, ours: &[u8], theirs: &[u8], most_blocks: u32) -> (bool, u64) {
        let spans = Spans::of(self.left, self.right, ours.len() as u64);
        let words = [FOUND, ANSWER].map(|address| Region::writable(address, &[0; 8]));
        let parts = [(self.left, ours), (self.right, theirs)];
        let parts = parts.map(|(address, bytes)| Region::read_only(address, bytes));
        let mut memory = Memory(words.into_iter().chain(parts).collect());
        let parameters =
            [self.left, self.right, spans.head, spans.vectors, spans.tail, FOUND, ANSWER, TICKET];
        // The remaining vectors need four blocks at most.
        let blocks = spans.blocks().min(most_blocks.max(4));
        self.program.run((blocks, THREADS), &parameters, &mut memory).expect("no fault");
        let [found, answer, left, right] = &memory.0[..] else { panic!("four regions") };
        assert_eq!(found.bytes, answer.bytes);
        let differ = answer.bytes == TICKET.to_ne_bytes();
        assert!(differ || answer.bytes == [0; 8]);
        assert_eq!(answer.stored, 8 * u64::from(differ), "written once");
        (differ, left.loaded + right.loaded)
    }

    /// Equal bytes compare equal, and a changed bit is found at each of these places.
    fn check(&self, size: usize, places: impl IntoIterator<Item = usize>) {
        let ours: Vec<u8> = (0..size).map(|at| ((at * 37) >> 2) as u8).collect();
        let mut theirs = ours.clone();
        assert!(!self.compare(&ours, &theirs, 4).0, "{size} equal bytes");
        for place in places {
            theirs[place] ^= 1 << (place % 8);
            assert!(self.compare(&ours, &theirs, 4).0, "byte {place} of {size}");
            theirs[place] = ours[place];
        }
    }
}

#[test]
fn small_sizes_at_all_alignments() {
    for (left, right) in (0..16).flat_map(|left| (0..16).map(move |right| (left, right))) {
        let case = Case::new(left, right);
        for size in [1, 16, 33, 143, 175] {
            case.check(size, [0, size / 2, size - 1]);
        }
    }
}

#[test]
fn every_byte_counts() {
    for (left, right) in [(0, 0), (5, 5), (0, 1), (3, 8), (127, 12), (120, 2)] {
        Case::new(left, right).check(600, 0..600);
    }
}

#[test]
fn every_part_of_a_tile_counts() {
    // Six tiles in four blocks, and a partial one.
    let size = 6 * 16384 + 1000 * 16 + 9;
    let border = |at: usize| [at - 1, at];
    let places = [0, 16384, 4 * 16384, 6 * 16384, size - 1].into_iter();
    let places: Vec<_> = places.flat_map(|at| border(at.max(1))).collect();
    for (left, right) in [(0, 0), (1, 1), (0, 1), (3, 8), (8, 3), (64, 76)] {
        Case::new(left, right).check(size, places.iter().copied());
    }
}

#[test]
fn every_word_of_a_step_counts() {
    // Two tiles: in the second one, a byte of each word of each of a thread's vectors.
    let size = 2 * 16384 + 256;
    let step = (0..4).flat_map(|row| (0..4).map(move |word| row * 4096 + word * 4));
    let places: Vec<_> = step.map(|at| 16384 + 128 + at + at / 4 % 4).collect();
    for right in 0..16 {
        Case::new(0, right).check(size, places.iter().copied());
    }
}

#[test]
fn a_difference_at_the_start_ends_the_work() {
    for (left, right) in [(0, 0), (0, 1)] {
        let case = Case::new(left, right);
        let ours = vec![0; 1 << 20];
        let mut theirs = ours.clone();
        theirs[200] = 1;
        let (differ, loaded) = case.compare(&ours, &theirs, 4);
        assert!(differ && loaded < 1 << 20, "{loaded} bytes were loaded");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn any_difference_is_found(
        left in 0..128u64, right in 0..128u64, size in 1..20_000usize, place in any::<usize>(),
    ) {
        Case::new(left, right).check(size, [place % size]);
    }
}
