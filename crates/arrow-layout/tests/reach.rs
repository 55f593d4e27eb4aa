//! The parts of their buffers that slices reach.

use arrow_cuda_layout::{
    ArrayNode, ByteRange, JoinError, Layout, Reach, Reached, Reads, Wanted, lower, plan_join, reach,
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
fn tens(wanted: &[Wanted], out: &mut [u64]) -> Result<bool, ()> {
    for (wanted, out) in wanted.iter().zip(out) {
        *out = 10 * wanted.position / wanted.width;
    }
    Ok(true)
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
            let ranges = vec![range(9); 3];
            let found = Reach { arrays: arrays_found, ranges, ..Reach::default() };
            assert!(plan_join(&arrays, &[1], &found).is_err(), "{layout:?} {width} {offset}");
        }
    }
    assert_eq!(plan_join(&[], &[usize::MAX], &Reach::default()).err(), Some(JoinError::Invalid));
}

#[test]
fn the_only_offset_of_nothing_may_be_any_number() {
    let arrays = [node(Layout::List, 4, 5, 0), node(Layout::Binary, 8, 0, 0)];
    let sizes = [24, 8, 0];
    let found = reach(&arrays, &sizes, Reads::ToJoin, |_, out| {
        out.fill(7);
        Ok::<_, ()>(true)
    });
    let found = found.expect("nothing fails").expect("nothing is contradicted");
    let plan = plan_join(&arrays, &[1], &found).expect("an empty array");
    assert_eq!((plan.arrays[0].length, plan.arrays[1].length), (0, 0));
    assert_eq!((plan.pieces, plan.sizes), (vec![], vec![0; 3]));
}

#[test]
fn sizes_that_no_memory_has_leave_an_array_whole() {
    for length in [1 << 36, 1 << 59, u64::MAX >> 4] {
        let mut array = node(Layout::BinaryView, 0, 8, length - 8);
        array.buffers += 1;
        let found = reach(&[array], &[16 * length, 9], Reads::OfSlices, |_, _| Ok::<_, ()>(false));
        let found = found.expect("no memory is touched").expect("a slice");
        assert_eq!(ranges(&found), [(128, 16 * (length - 8)), (0, 9)]);
    }
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

/// Numbers of a type at the start of a buffer.
fn numbers<const N: usize>(all: &[i64]) -> Vec<u8> {
    all.iter().flat_map(|number| number.to_ne_bytes()[..N].to_vec()).collect()
}

fn number(bytes: &[u8]) -> i64 {
    let mut all = [if bytes[bytes.len() - 1] > 127 { 255 } else { 0 }; 8];
    all[..bytes.len()].copy_from_slice(bytes);
    i64::from_ne_bytes(all)
}

/// The parts of these buffers that slices reach, and how often the buffers were read.
fn reach_of(arrays: &[ArrayNode], buffers: &[Vec<u8>], reads: Reads) -> (Option<Reach>, usize) {
    let sizes: Vec<_> = buffers.iter().map(|buffer| buffer.len() as u64).collect();
    let mut calls = 0;
    let found = reach(arrays, &sizes, reads, |wanted, out| {
        calls += 1;
        let read = wanted.iter().flat_map(|wanted| {
            let bytes = &buffers[wanted.buffer][wanted.position as usize..];
            let all = bytes.chunks(wanted.width as usize).map(|it| number(it).cast_unsigned());
            all.take(wanted.count as usize)
        });
        out.iter_mut().zip(read).for_each(|(out, number)| *out = number);
        Ok::<_, ()>(true)
    });
    (found.expect("nothing fails"), calls)
}

/// A view of `size` bytes.
fn view(size: i64, buffer: i64, offset: i64) -> Vec<u8> {
    [numbers::<4>(&[size]), vec![7; 4], numbers::<4>(&[buffer, offset])].concat()
}

/// 1,000 views of 20 bytes each, by turns in two of three buffers, except for each tenth, which is short.
fn views() -> (ArrayNode, Vec<Vec<u8>>) {
    let mut array = node(Layout::BinaryView, 0, 0, 1000);
    array.buffers = 4;
    let long = |row: i64| view(20, row % 2 * 2, row / 2 * 20);
    let all = (0..1000).flat_map(|row| if row % 10 == 9 { view(12, -1, -1) } else { long(row) });
    (array, vec![all.collect(), vec![0; 10_000], vec![0; 500], vec![0; 10_000]])
}

#[test]
fn slices_of_views_reach_what_these_lead_to() {
    let (whole, buffers) = views();
    for (has_validity, skipped) in [(false, 0), (true, 4)] {
        let mut array = ArrayNode { has_validity, offset: 500, length: 10, ..whole };
        array.buffers += u32::from(has_validity);
        let bitmap = if has_validity { vec![vec![255; 125]] } else { vec![] };
        let (found, calls) =
            reach_of(&[array], &[bitmap, buffers.clone()].concat(), Reads::OfSlices);
        let found = found.expect("a slice");
        let first = usize::from(has_validity);
        let part = (500 - skipped, 10 + skipped);
        assert_eq!(
            ranges(&found)[first..],
            [(16 * part.0, 16 * part.1), (5000, 100), (0, 0), (5000, 80)]
        );
        assert_eq!((found.arrays[0].offset, calls), (skipped, 1));
        let expected: Vec<_> = (0..10)
            .flat_map(|row| match row {
                9 => view(12, -1, -1),
                _ => view(20, row % 2 * 2, row / 2 * 20),
            })
            .collect();
        let lowered = &found.replaced[&first];
        assert_eq!(lowered[16 * skipped as usize..], expected);
    }
}

#[test]
fn whole_views_are_not_read() {
    let (whole, buffers) = views();
    for reads in [Reads::None, Reads::OfSlices, Reads::All] {
        let (found, calls) = reach_of(&[whole], &buffers, reads);
        assert!((found.is_none(), calls) == (true, 0));
    }
    let slice = ArrayNode { offset: 500, length: 10, ..whole };
    for reads in [Reads::None, Reads::ToJoin] {
        let (found, calls) = reach_of(&[slice], &buffers, reads);
        assert_eq!(ranges(&found.expect("a slice"))[1..], [(0, 10_000), (0, 500), (0, 10_000)]);
        assert_eq!(calls, 0);
    }
    // Nor are those of which too many would have to be.
    let sizes: Vec<_> = buffers.iter().map(|buffer| buffer.len() as u64).collect();
    let found = reach(&[slice], &sizes, Reads::All, |_, _| Ok::<_, ()>(false)).expect("no failure");
    assert_eq!(ranges(&found.expect("a slice"))[1..], [(0, 10_000), (0, 500), (0, 10_000)]);
}

#[test]
fn few_that_may_lead_to_much_are_read_on_the_way_to_a_device() {
    let (whole, mut buffers) = views();
    buffers[0] = buffers[0][16 * 500..16 * 501].to_vec();
    buffers[2] = vec![0; 40_000];
    let part = ArrayNode { length: 1, ..whole };
    assert!(reach_of(&[part], &buffers, Reads::OfSlices).0.is_none());
    let (found, calls) = reach_of(&[part], &buffers, Reads::All);
    assert_eq!(ranges(&found.expect("a part")), [(0, 16), (5000, 20), (0, 0), (0, 0)]);
    assert_eq!(calls, 1);
    let mut lists = node(Layout::ListView, 4, 0, 10);
    lists.children = 1;
    let buffers = [numbers::<4>(&[3; 10]), numbers::<4>(&[2; 10]), vec![0; 80_000]];
    for (length, is_read) in [(11_263, false), (11_264, true)] {
        let arrays = [lists, node(Layout::Fixed, 4, 0, length)];
        assert_eq!(reach_of(&arrays, &buffers, Reads::All).1 > 0, is_read);
    }
}

#[test]
fn slices_without_elements_reach_nothing() {
    let (whole, buffers) = views();
    let empty = ArrayNode { offset: 500, length: 0, ..whole };
    for reads in [Reads::None, Reads::OfSlices, Reads::All] {
        let (found, calls) = reach_of(&[empty], &buffers, reads);
        assert!(found.expect("a slice").ranges.iter().all(|range| range.size == 0));
        assert_eq!(calls, 0);
    }
}

#[test]
fn slices_of_list_views_reach_the_lists_in_use() {
    for width in [4, 8] {
        let mut lists = node(Layout::ListView, width, 100, 5);
        lists.children = 1;
        // Backwards, and overlapping; empty ones lead anywhere.
        let mut offsets: Vec<i64> = (0..200).rev().map(|row| 10 * row).collect();
        let mut sizes = vec![15; 200];
        (offsets[101], sizes[101], offsets[102], sizes[102]) = (0, 0, -1, 0);
        let bytes = |all: &[i64]| if width == 4 { numbers::<4>(all) } else { numbers::<8>(all) };
        let buffers = [bytes(&offsets), bytes(&sizes), vec![0; 8 * 2010]];
        let arrays = [lists, node(Layout::Fixed, 8, 5, 2005)];
        let (found, calls) = reach_of(&arrays, &buffers, Reads::OfSlices);
        let found = found.expect("a slice");
        // From 950, the offset of row 104, to 1005, the end of row 100.
        assert_eq!(
            ranges(&found),
            [(100 * width, 5 * width), (100 * width, 5 * width), (8 * 955, 8 * 55)]
        );
        assert_eq!((found.arrays[1].length, calls), (55, 1));
        assert_eq!(found.replaced[&0], bytes(&[40, 0, 55, 10, 0]));
    }
}

#[test]
fn slices_of_dense_unions_reach_the_elements_in_use() {
    let mut union = node(Layout::DenseUnion, 0, 100, 6);
    (union.children, union.buffers) = (3, 2);
    let child = |type_id| ArrayNode { type_id, ..node(Layout::Fixed, 4, 0, 100) };
    let of_bits = ArrayNode { type_id: 3, ..node(Layout::Bits, 0, 0, 100) };
    let types: Vec<i64> = (0..200).map(|row| if row % 2 == 0 { 5 } else { 3 }).collect();
    let offsets: Vec<i64> = (0..200).map(|row| row / 2).collect();
    let buffers =
        [numbers::<1>(&types), numbers::<4>(&offsets), vec![0; 400], vec![0; 13], vec![0; 400]];
    let arrays = [union, child(5), of_bits, child(127)];
    let (found, calls) = reach_of(&arrays, &buffers, Reads::All);
    let found = found.expect("a slice");
    assert_eq!(ranges(&found), [(100, 6), (400, 24), (200, 12), (6, 1), (0, 0)]);
    let lengths: Vec<_> = found.arrays.iter().map(|it| (it.offset, it.length)).collect();
    assert_eq!((lengths, calls), (vec![(0, 6), (0, 3), (2, 3), (0, 0)], 1));
    assert_eq!(found.replaced[&1], numbers::<4>(&[0, 0, 1, 1, 2, 2]));
}

#[test]
fn views_within_lists_are_read_once_the_lists_are() {
    let mut lists = node(Layout::List, 4, 490, 10);
    lists.children = 1;
    let (views, buffers) = views();
    let offsets = numbers::<4>(&(0..1001).collect::<Vec<_>>());
    let arrays = [lists, views, lists, views];
    let buffers = [vec![offsets], buffers].concat();
    let buffers = [buffers.clone(), buffers].concat();
    let (found, calls) = reach_of(&arrays, &buffers, Reads::OfSlices);
    let found = found.expect("a slice");
    assert_eq!(ranges(&found)[6..], [(16 * 490, 160), (4900, 100), (0, 0), (4900, 80)]);
    assert_eq!((found.replaced.len(), calls), (2, 2));
}

#[test]
fn what_leads_outside_stays_whole() {
    let (whole, buffers) = views();
    let slice = ArrayNode { offset: 500, length: 10, ..whole };
    for lie in [view(20, 3, 0), view(20, -1, 0), view(20, 1, 481), view(-1, 0, 0), view(13, 0, -1)]
    {
        let mut lying = buffers.clone();
        lying[0][16 * 505..16 * 506].copy_from_slice(&lie);
        let (found, _) = reach_of(&[slice, slice], &[lying, buffers.clone()].concat(), Reads::All);
        let found = found.expect("the other is a slice");
        let all: Vec<_> = ranges(&found).into_iter().map(|(_, size)| size).collect();
        assert_eq!(all, [16_000, 10_000, 500, 10_000, 160, 100, 0, 80]);
        assert_eq!((found.arrays[0].offset, found.replaced.len()), (500, 1));
    }
    // So does what lies beside it in one array.
    let mut pair = node(Layout::Struct, 0, 500, 10);
    pair.children = 2;
    let mut lying = buffers.clone();
    lying[0][16 * 505..16 * 506].copy_from_slice(&view(20, 3, 0));
    let (found, _) = reach_of(
        &[pair, whole, whole, slice],
        &[&buffers, &lying, &buffers].map(Vec::clone).concat(),
        Reads::All,
    );
    let replaced: Vec<_> = found.expect("another is a slice").replaced.into_keys().collect();
    assert_eq!(replaced, [8]);
    let mut union = node(Layout::DenseUnion, 0, 100, 10);
    union.children = 1;
    for (id, place, offset) in [(1, 105, 0), (-1, 105, 0), (0, 105, 50), (0, 105, -1)] {
        let (mut types, mut offsets) = (vec![0; 200], vec![0; 200]);
        (types[place], offsets[place]) = (id, offset);
        let buffers = [numbers::<1>(&types), numbers::<4>(&offsets), vec![0; 400]];
        let (found, _) = reach_of(&[union, node(Layout::Fixed, 8, 0, 50)], &buffers, Reads::All);
        assert!(found.is_none());
    }
    let mut lists = node(Layout::ListView, 4, 100, 10);
    lists.children = 1;
    for (offset, size) in [(50, 1), (-1, 1), (0, -1), (0, 51)] {
        let (mut offsets, mut sizes) = (vec![0; 200], vec![1; 200]);
        (offsets[105], sizes[105]) = (offset, size);
        let buffers = [numbers::<4>(&offsets), numbers::<4>(&sizes), vec![0; 400]];
        let (found, _) = reach_of(&[lists, node(Layout::Fixed, 8, 0, 50)], &buffers, Reads::All);
        assert!(found.is_none());
    }
}

/// The bytes that a view of one of these buffers leads to.
fn bytes_at(view: &[u8], data: &[&[u8]]) -> Vec<u8> {
    let [size, _, buffer, offset] = [0, 1, 2, 3].map(|it| number(&view[4 * it..4 * it + 4]));
    match size {
        ..=12 => view.to_vec(),
        _ => data[buffer as usize][offset as usize..][..size as usize].to_vec(),
    }
}

proptest! {
    #[test]
    fn views_and_list_views_keep_what_they_lead_to(
        rows in proptest::collection::vec((0..30_i64, 0..3_i64, 0..70_i64), 40..80),
        first in 0..80_usize, length in 0..20_usize, has_validity in any::<bool>(),
    ) {
        let first = first.min(rows.len());
        let length = length.min(rows.len() - first);
        let data: Vec<Vec<u8>> = (0..3).map(|start| (start..start + 100).collect()).collect();
        let views = rows.iter().flat_map(|(size, buffer, offset)| view(*size, *buffer, *offset));
        let mut array = node(Layout::BinaryView, 0, first as u64, length as u64);
        (array.has_validity, array.buffers) = (has_validity, 4 + u32::from(has_validity));
        let bitmap = vec![vec![255; 10]; usize::from(has_validity)];
        let buffers = [bitmap, vec![views.collect()], data].concat();
        let views_at = usize::from(has_validity);
        if let Some(found) = reach_of(&[array], &buffers, Reads::OfSlices).0 {
            let part = |number: usize| {
                let ByteRange { start, size } = found.ranges[number];
                found.replaced.get(&number).map_or_else(
                    || &buffers[number][start as usize..][..size as usize],
                    |bytes| bytes.as_slice(),
                )
            };
            let whole: Vec<_> = buffers[views_at + 1..].iter().map(Vec::as_slice).collect();
            let trimmed: Vec<_> = (views_at + 1..buffers.len()).map(part).collect();
            let skipped = found.arrays[0].offset as usize;
            for row in 0..length {
                let before = &buffers[views_at][16 * (first + row)..][..16];
                let after = &part(views_at)[16 * (skipped + row)..][..16];
                prop_assert_eq!(bytes_at(after, &trimmed), bytes_at(before, &whole));
            }
        }

        let mut lists = node(Layout::ListView, 4, first as u64, length as u64);
        lists.children = 1;
        let offsets: Vec<_> = rows.iter().map(|(_, _, offset)| *offset).collect();
        let sizes: Vec<_> = rows.iter().map(|(size, _, _)| *size).collect();
        let values: Vec<u8> = (0..100).collect();
        let buffers = [numbers::<4>(&offsets), numbers::<4>(&sizes), values];
        let arrays = [lists, node(Layout::Fixed, 1, 0, 100)];
        if let Some(found) = reach_of(&arrays, &buffers, Reads::OfSlices).0 {
            let ByteRange { start, size } = found.ranges[2];
            let left = &buffers[2][start as usize..][..size as usize];
            let own = numbers::<4>(&offsets[first..first + length]);
            let lowered = found.replaced.get(&0).unwrap_or(&own);
            for row in 0..length {
                let (offset, size) = (offsets[first + row] as usize, sizes[first + row] as usize);
                let now = number(&lowered[4 * row..4 * row + 4]) as usize;
                prop_assert!(now + size <= left.len());
                prop_assert_eq!(&left[now..now + size], &buffers[2][offset..offset + size]);
            }
        }
    }

    #[test]
    fn whatever_arrays_say_their_ranges_lie_within_the_buffers(
        raw in proptest::collection::vec(
            (0..12_usize, any::<[bool; 2]>(), 0..4_u32, 0..5_u32, 0..70_u64, 0..100_u64, 0..50_u64),
            0..12,
        ),
        is_read in any::<bool>(),
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
                type_id: (buffers % 2) as u8,
                children,
                buffers,
                width: if width > 64 { huge } else { width },
                length,
                offset: if offset > 45 { huge } else { offset },
            }
        }).collect();
        for reads in [Reads::None, Reads::OfSlices, Reads::All, Reads::ToJoin] {
            let found = reach(&arrays, &sizes, reads, |wanted, out| {
                let mut asked = 0;
                for wanted in wanted {
                    let size = wanted.width * wanted.count;
                    assert!(wanted.position + size <= sizes[wanted.buffer]);
                    asked += wanted.count as usize;
                }
                assert_eq!(asked, out.len());
                for (out, offset) in out.iter_mut().zip(offsets.iter().cycle()) {
                    *out = if reads == Reads::All { offset % 4 } else { offset % 1000 };
                }
                Ok::<_, ()>(is_read)
            });
            let Some(found) = found.expect("nothing fails") else { continue };
            prop_assert_eq!((found.arrays.len(), found.ranges.len()), (arrays.len(), sizes.len()));
            for (range, size) in found.ranges.iter().zip(&sizes) {
                prop_assert!(range.start + range.size <= *size);
            }
            for (number, bytes) in &found.replaced {
                prop_assert_eq!(bytes.len() as u64, found.ranges[*number].size);
            }
            if reads == Reads::ToJoin
                && let Ok(plan) = plan_join(&arrays, &columns, &found)
            {
                prop_assert!(plan.pieces.iter().all(|piece| piece.to < plan.sizes.len()));
            }
        }
    }
}
