//! The parts of their buffers that slices reach.

use arrow_cuda_layout::{
    ArrayNode, ByteRange, JoinError, Layout, Reach, Reached, Reads, Wanted, join, lower, reach,
};
use proptest::prelude::*;

const LAYOUTS: [Layout; 12] = [
    Layout::Null,
    Layout::Bits,
    Layout::Fixed,
    Layout::Binary,
    Layout::BinaryView,
    Layout::List,
    Layout::ListView,
    Layout::FixedSizeList,
    Layout::Struct,
    Layout::SparseUnion,
    Layout::DenseUnion,
    Layout::RunEndEncoded,
];

fn node(layout: Layout, width: u64, offset: u64, length: u64) -> ArrayNode {
    let buffers = layout.contents(width).count() as u32;
    ArrayNode {
        layout,
        has_validity: false,
        has_dictionary: false,
        type_id: 0,
        children: u32::from(matches!(layout, Layout::List | Layout::FixedSizeList)),
        buffers,
        width,
        length,
        offset,
    }
}

/// Offsets that are ten times the position.
fn tens(wanted: &[Wanted], out: &mut [u64]) -> Result<(), ()> {
    for (wanted, out) in wanted.iter().zip(out) {
        *out = 10 * wanted.position / wanted.width;
    }
    Ok(())
}

fn reach_by_tens(arrays: &[ArrayNode], sizes: &[u64], reads: Reads) -> Option<Reach> {
    reach(arrays, sizes, reads, tens).expect("nothing fails")
}

fn ranges(found: &Reach) -> Vec<(u64, u64)> {
    found.ranges.iter().map(|range| (range.start, range.size)).collect()
}

#[test]
fn arrays_with_bits_begin_within_the_first_byte() {
    let mut array = node(Layout::Binary, 4, 1003, 50);
    (array.has_validity, array.buffers) = (true, 3);
    let found = reach_by_tens(&[array], &[250, 8004, 20_000], Reads::All).expect("a slice");
    assert_eq!(ranges(&found), [(125, 7), (4000, 54 * 4), (10_030, 500)]);
    let reached = found.arrays[0];
    assert_eq!((reached.offset, reached.length, reached.base), (3, 50, 10_030));
}

#[test]
fn each_depth_is_read_with_one_call() {
    let lists = [
        node(Layout::List, 8, 100, 10),
        node(Layout::List, 4, 0, 5000),
        node(Layout::Fixed, 2, 0, 50_000),
    ];
    let arrays = [lists, lists].concat();
    let sizes = [8008, 20_004, 100_000].repeat(2);
    let mut calls = Vec::new();
    let found = reach(&arrays, &sizes, Reads::OfSlices, |wanted, out| {
        calls.push(wanted.len());
        tens(wanted, out)
    });
    let found = found.expect("nothing fails").expect("slices");
    assert_eq!(calls, [4, 4]);
    assert_eq!(ranges(&found)[3..], [(800, 88), (4000, 404), (20_000, 2000)]);
    assert_eq!(found.arrays[5].length, 1000);
}

#[test]
fn few_elements_may_be_large() {
    let array = node(Layout::Binary, 4, 0, 2);
    let found = reach_by_tens(&[array], &[16, 30], Reads::OfSlices).expect("a slice");
    assert_eq!(ranges(&found), [(0, 12), (0, 20)]);
}

#[test]
fn offsets_that_are_not_read_stay_right() {
    let array = node(Layout::Binary, 4, 100, 10);
    let found = reach_by_tens(&[array], &[4004, 10_000], Reads::None).expect("a slice");
    assert_eq!((ranges(&found), found.arrays[0].base), (vec![(400, 44), (0, 10_000)], 0));
}

#[test]
fn arrays_that_need_their_buffers_are_no_slices() {
    let mut pair = node(Layout::Struct, 0, 0, 10);
    pair.children = 2;
    let child = |length| node(Layout::Fixed, 8, 0, length);
    let sizes = |length: u64| [8 * length, 128];
    assert!(reach_by_tens(&[pair, child(10), child(10)], &sizes(10), Reads::All).is_none());
    let found = reach_by_tens(&[pair, child(11), child(10)], &sizes(11), Reads::All);
    assert_eq!(ranges(&found.expect("a slice")), [(0, 80), (0, 80)]);
}

#[test]
fn a_tree_that_contradicts_itself_stays_whole() {
    let sound = node(Layout::Fixed, 8, 10, 10);
    for lying in [
        node(Layout::Fixed, 8, 10, 91),
        node(Layout::Fixed, u64::MAX, 10, 10),
        node(Layout::Binary, 4, 100, 10),
    ] {
        let sizes = [vec![800], vec![444; lying.buffers as usize], vec![800]].concat();
        let found = reach_by_tens(&[sound, lying, sound], &sizes, Reads::All).expect("slices");
        let (first, rest) = (ranges(&found), found.arrays[1]);
        assert_eq!((first[0], *first.last().expect("some")), ((80, 80), (80, 80)));
        assert!(first[1..first.len() - 1].iter().all(|range| *range == (0, 444)));
        assert_eq!((rest.offset, rest.base), (lying.offset, 0));
    }
}

#[test]
fn numbers_that_no_array_has_are_errors() {
    let range = |size| ByteRange { start: 0, size };
    for (layout, width) in [(Layout::Binary, 0), (Layout::Binary, 1 << 61), (Layout::List, 0)] {
        let array = node(layout, width, 0, 1);
        let reached = Reached { offset: u64::MAX, length: 1, base: 0 };
        let arrays = [array, node(Layout::Fixed, 1, 0, 1)];
        for offset in [0, u64::MAX] {
            let arrays_found = vec![Reached { offset, ..reached }; 2];
            let found = Reach { arrays: arrays_found, ranges: vec![range(9); 3] };
            assert!(join(&arrays, &[1], &found).is_err(), "{layout:?} {width} {offset}");
        }
    }
    let found = Reach { arrays: vec![], ranges: vec![] };
    assert_eq!(join(&[], &[usize::MAX], &found).err(), Some(JoinError::Invalid));
}

#[test]
fn the_only_offset_of_nothing_may_be_any_number() {
    let arrays = [node(Layout::List, 4, 5, 0), node(Layout::Binary, 8, 0, 0)];
    let sizes = [24, 8, 0];
    let found = reach(&arrays, &sizes, Reads::ToJoin, |_, out| {
        out.fill(7);
        Ok::<_, ()>(())
    });
    let found = found.expect("nothing fails").expect("nothing is contradicted");
    let plan = join(&arrays, &[1], &found).expect("an empty array");
    assert_eq!((plan.arrays[0].length, plan.arrays[1].length), (0, 0));
    assert_eq!((plan.pieces, plan.sizes), (vec![], vec![0; 3]));
}

#[test]
fn counts_that_no_tree_has_end_at_once() {
    let mut array = node(Layout::Struct, 0, 0, 10);
    array.children = u32::MAX;
    let arrays = [array; 50];
    assert!(reach_by_tens(&arrays, &[], Reads::All).is_none());
}

#[test]
fn lowered_offsets_count_from_what_is_left() {
    let (wide, mut lowered) = ([5_i64, 7, 9].map(i64::to_ne_bytes).concat(), [1; 24]);
    lower(&wide, &mut lowered, 8, 7);
    assert_eq!(lowered.to_vec(), [0_i64, 0, 2].map(i64::to_ne_bytes).concat());
    let (narrow, mut lowered) = ([i32::MIN, i32::MAX].map(i32::to_ne_bytes).concat(), [1; 8]);
    lower(&narrow, &mut lowered, 4, 1);
    assert_eq!(lowered.to_vec(), [0, i32::MAX - 1].map(i32::to_ne_bytes).concat());
}

proptest! {
    #[test]
    fn whatever_arrays_say_their_ranges_lie_within_the_buffers(
        raw in proptest::collection::vec(
            (0..12_usize, any::<[bool; 2]>(), 0..4_u32, 0..5_u32, 0..70_u64, 0..100_u64, 0..50_u64),
            0..12,
        ),
        sizes in proptest::collection::vec(0..900_u64, 0..40),
        huge in any::<u64>(),
        offsets in proptest::collection::vec(any::<u64>(), 64),
        columns in proptest::collection::vec(0..4_usize, 0..4),
    ) {
        let arrays: Vec<_> = raw.into_iter().map(|(layout, has, children, buffers, width, length, offset)| {
            ArrayNode {
                layout: LAYOUTS[layout],
                has_validity: has[0],
                has_dictionary: has[1] && children == 0,
                type_id: 0,
                children,
                buffers,
                width: if width > 64 { huge } else { width },
                length,
                offset: if offset > 45 { huge } else { offset },
            }
        }).collect();
        for reads in [Reads::None, Reads::OfSlices, Reads::All, Reads::ToJoin] {
            let found = reach(&arrays, &sizes, reads, |wanted, out| {
                for (wanted, (out, offset)) in wanted.iter().zip(out.iter_mut().zip(&offsets)) {
                    assert!(wanted.position + wanted.width <= sizes[wanted.buffer]);
                    *out = offset % 1000;
                }
                Ok::<_, ()>(())
            });
            let Some(found) = found.expect("nothing fails") else { continue };
            prop_assert_eq!((found.arrays.len(), found.ranges.len()), (arrays.len(), sizes.len()));
            for (range, size) in found.ranges.iter().zip(&sizes) {
                prop_assert!(range.start + range.size <= *size);
            }
            if reads == Reads::ToJoin
                && let Ok(plan) = join(&arrays, &columns, &found)
            {
                prop_assert!(plan.pieces.iter().all(|piece| piece.to < plan.sizes.len()));
            }
        }
    }
}
