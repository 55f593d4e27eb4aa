//! Runs the texts of the kernels on random layouts.

use super::cases::{Case, Side, cases, long_shapes, small_shapes};
use super::launches::{Kernel, Launch, launches_of_at_most};
use super::plan::Plan;
use crate::kernels::THREADS;
use crate::kernels::memory::{Memory, Region};
use crate::kernels::ptx::Program;
use proptest::prelude::*;
use std::sync::LazyLock;

/// The addresses of the two buffers, which are aligned as those of the driver.
const TARGET: u64 = 0x10_0000;
const SOURCE: u64 = 0x90_0000;

fn program(kernel: Kernel) -> &'static Program {
    static STRIDED: LazyLock<Program> = LazyLock::new(|| parse(Kernel::Strided));
    static TRANSPOSED: LazyLock<Program> = LazyLock::new(|| parse(Kernel::Transposed));
    fn parse(kernel: Kernel) -> Program {
        let [source, name] =
            [kernel.source(), kernel.name()].map(|text| text.to_str().expect("PTX is UTF-8"));
        Program::parse(source, name).expect("instructions that are known")
    }
    match kernel {
        Kernel::Strided => &STRIDED,
        Kernel::Transposed => &TRANSPOSED,
    }
}

fn plan(case: &Case) -> Plan {
    let [to, from] = [&case.to, &case.from].map(|side| (side.offset, &side.strides[..]));
    Plan::of(&case.shape, case.item_size, to, from)
}

/// Makes a copy in launches of so many words and blocks at most, and returns the launches.
fn check(case: &Case, most_words: u64, most_blocks: u32) -> Vec<Launch> {
    let target = vec![0xEE; case.to.size as usize];
    let source = (0..case.from.size).map(|at| (at.wrapping_mul(0x9E37_79B9) >> 13) as u8);
    let source: Vec<u8> = source.collect();
    let plan = plan(case);
    let size = plan.size();
    assert_eq!(size, case.item_size * case.shape.iter().product::<u64>());
    let regions = [Region::writable(TARGET, &target), Region::read_only(SOURCE, &source)];
    let mut memory = Memory(regions.into());
    let launches: Vec<_> = launches_of_at_most(most_words, plan, TARGET, SOURCE).collect();
    for launch in &launches {
        let blocks = launch.blocks.min(most_blocks);
        let grid = (blocks, THREADS);
        program(launch.kernel).run(grid, &launch.parameter, &mut memory).expect("no fault");
    }
    assert_eq!(memory.0[0].bytes, case.apply(&target, &source));
    assert_eq!(memory.0[0].stored, size, "every byte once");
    launches
}

/// The size of a word, in bytes.
fn word(launch: &Launch) -> u64 {
    launch.parameter[2] >> 32
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_layouts(
        case in cases(small_shapes()).prop_filter("is plain", |case| !plan(case).is_plain()),
        most_words in prop_oneof![4..100u64, Just(u64::MAX)],
    ) {
        check(&case, most_words, 1);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn layouts_that_are_dense_along_different_dimensions(
        case in cases(long_shapes()).prop_filter("is plain", |case| !plan(case).is_plain()),
        most_words in prop_oneof![2000..5000u64, Just(u64::MAX)],
        most_blocks in 1..4u32,
    ) {
        check(&case, most_words, most_blocks);
    }
}

/// A row-major array of one in which the dimension `order[0]` is the densest, and so on.
fn permuted(shape: &[u64], item_size: u64, order: &[usize]) -> Case {
    let side = |order: &mut dyn Iterator<Item = usize>| {
        let (mut dense, mut strides) = (item_size, vec![0; shape.len()]);
        for at in order {
            strides[at] = dense.cast_signed();
            dense *= shape[at];
        }
        Side { offset: 0, strides, size: dense }
    };
    let to = side(&mut (0..shape.len()).rev());
    Case { shape: shape.to_vec(), item_size, to, from: side(&mut order.iter().copied()) }
}

#[test]
fn matrices_are_transposed_in_squares() {
    // The last square is filled up to each of the four words that a thread reads.
    let shapes = [[32, 32], [33, 72], [33, 80], [33, 88], [33, 96], [70, 35]];
    for item_size in [1, 2, 4, 8, 16] {
        for shape in shapes {
            let launches = check(&permuted(&shape, item_size, &[0, 1]), u64::MAX, 2);
            assert_eq!(launches.len(), 1);
            assert_eq!((launches[0].kernel, word(&launches[0])), (Kernel::Transposed, item_size));
        }
    }
    for (shape, order) in [([2, 65, 4, 33], [1, 0, 2, 3]), ([70, 2, 2, 32], [0, 2, 3, 1])] {
        let launches = check(&permuted(&shape, 4, &order), u64::MAX, 3);
        assert_eq!(launches[0].kernel, Kernel::Transposed);
    }
}

#[test]
fn other_arrays_are_not_cut_into_squares() {
    let mut cases: Vec<_> = [([31, 500], 4), ([500, 31], 4), ([100, 100], 12)]
        .map(|(shape, item_size)| permuted(&shape, item_size, &[0, 1]))
        .into();
    // A row for all, and a column for all.
    for strides in [[4, 0], [0, 4], [0, 8]] {
        let mut case = permuted(&[100, 100], 4, &[0, 1]);
        case.from.strides = strides.into();
        cases.push(case);
    }
    for case in cases {
        let launches = check(&case, u64::MAX, 2);
        assert_eq!(launches[0].kernel, Kernel::Strided, "{case:?}");
    }
}

#[test]
fn words_are_as_wide_as_the_layouts_allow() {
    let part = |item_size: u64, length: u64, to: u64, from: u64, pitch: i64| Case {
        shape: vec![3, length],
        item_size,
        to: Side { offset: to, strides: vec![pitch, item_size.cast_signed()], size: 400 },
        from: Side { offset: from, strides: vec![-pitch, item_size.cast_signed()], size: 400 },
    };
    for (case, expected) in [
        (part(4, 8, 0, 256, 64), 16),
        (part(4, 7, 0, 256, 64), 4),
        (part(1, 48, 8, 208, 64), 8),
        (part(1, 48, 16, 210, 64), 2),
        (part(16, 2, 0, 200, 40), 8),
        (part(3, 4, 0, 256, 24), 4),
        (part(1, 5, 0, 200, 100), 1),
    ] {
        let launches = check(&case, u64::MAX, 1);
        assert_eq!((launches.len(), word(&launches[0])), (1, expected), "{case:?}");
    }
}

#[test]
fn a_grid_takes_turns() {
    let strides = |stride: i64| Side { offset: 0, strides: vec![stride], size: 20_000 };
    let case = Case { shape: vec![4999], item_size: 1, to: strides(4), from: strides(3) };
    for blocks in [1, 2, 5] {
        let launches = check(&case, u64::MAX, blocks);
        assert_eq!((launches.len(), launches[0].blocks), (1, 5));
    }
}
