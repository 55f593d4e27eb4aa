//! Ranges that the kernel fills, against the same on the host.

#[path = "../../context/tests/common/mod.rs"]
mod common;
#[path = "common/exact.rs"]
mod exact;

use arrow_cuda_buffer::{CopyOrder, DeviceBuffer, Error, join, join_into_new};
use arrow_cuda_context::{Context, Stream};
use arrow_cuda_layout::{Change, JoinPiece};
use common::{Gate, alone};
use exact::upload;
use proptest::prelude::*;

/// The runs that fill a target one after another: where the elements begin in the source, and how many.
type Runs = Vec<(u64, u64)>;

fn runs(most: u64) -> impl Strategy<Value = Runs> {
    prop::collection::vec((0..most, prop_oneof![0..9u64, 0..most]), 1..5)
}

fn source(size: usize) -> Vec<u8> {
    (0..size as u64).map(|at| (at.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8).collect()
}

/// Fills a target of `size` bytes with runs of elements, the first at `start`, from the first of the buffers.
fn filled(runs: &Runs, start: u64, size: u64, change: Change, from: &[&DeviceBuffer]) -> Vec<u8> {
    let context = from[0].context();
    let to = [upload(context, &vec![0xCC; size as usize])];
    let element = if change.is_of_bits() { 1 } else { change.size() / 8 };
    let mut to_position = start;
    let mut pieces = Vec::new();
    for (from_position, count) in runs.iter().copied() {
        pieces.push(JoinPiece { to: 0, to_position, from: 0, from_position, count, change });
        to_position += count * element;
    }
    let from: Vec<_> = from.iter().copied().map(Some).collect();
    join(context, &to, &from, &pieces).expect("a joined buffer");
    to[0].to_vec().expect("its bytes")
}

fn bit(bytes: &[u8], at: u64) -> bool {
    bytes[(at / 8) as usize] >> (at % 8) & 1 == 1
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn bytes_at_any_place(runs in runs(90_000), start in 0..300u64, before in 0..300usize) {
        let context = Context::primary(0).expect("a device");
        let bytes = source(before + 180_000);
        let from = upload(&context, &bytes).slice_with_length(before, 180_000).expect("within");
        let total: u64 = runs.iter().map(|(_, count)| count).sum();
        let found = filled(&runs, start, start + total + 7, Change::Bytes, &[&from]);
        let mut expected = vec![0xCC; start as usize];
        for (first, count) in &runs {
            let at = before + *first as usize;
            expected.extend_from_slice(&bytes[at..at + *count as usize]);
        }
        expected.extend([0xCC; 7]);
        prop_assert!(found == expected);
    }

    #[test]
    fn bits_at_any_place(runs in runs(60_000), start in 0..70u64, all in any::<bool>()) {
        let context = Context::primary(0).expect("a device");
        let bytes = source(15_001);
        let from = upload(&context, &bytes[1..]);
        let total: u64 = runs.iter().map(|(_, count)| count).sum();
        let size = (start + total).div_ceil(32) * 4 + 4;
        let change = if all { Change::Ones } else { Change::Bits };
        let found = filled(&runs, start, size, change, &[&from]);
        let sources = runs.iter().flat_map(|(first, count)| *first..first + count);
        let expected: Vec<bool> = std::iter::repeat_n(false, start as usize)
            .chain(sources.map(|at| all || bit(&bytes[1..], at)))
            .chain(std::iter::repeat_n(false, (size * 8 - start - total) as usize))
            .collect();
        let found: Vec<bool> = (0..size * 8).map(|at| bit(&found, at)).collect();
        prop_assert!(found == expected);
    }

    #[test]
    fn numbers_of_all_widths(
        runs in runs(9_000), log in 0..4u32, shift in 0..3usize, add in any::<u64>(),
        most in prop_oneof![Just(u64::MAX), 0..999u64], how in 0..3u32, id in 0..3u8,
    ) {
        let context = Context::primary(0).expect("a device");
        let width = if how == 1 { 4 } else { 1usize << log };
        let bytes = source(shift + 40_000 * width);
        let from = upload(&context, &bytes).slice_with_length(shift, 40_000 * width).expect("within");
        let kinds: Vec<u8> = source(40_000).iter().map(|kind| kind % 3).collect();
        let kinds_there = upload(&context, &kinds);
        let map: Vec<u32> = (0..150u32).map(|at| at * 77 + 1).collect();
        let map_there = upload(&context, &map.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<_>>());
        let change = match how {
            0 => Change::Sum { width: width as u64, add, most },
            1 => Change::SumOfType { add, types: 1, position: 0, id },
            _ => Change::Entry { width: width as u64, map: 2 },
        };
        // Positions are in bytes; with types beside, the numbers of one run.
        let runs: Runs = runs.iter().take(if how == 1 { 1 } else { 9 })
            .map(|(first, count)| (first * width as u64, *count)).collect();
        let total: u64 = runs.iter().map(|(_, count)| count).sum();
        let found = filled(&runs, 0, total * width as u64, change, &[&from, &kinds_there, &map_there]);
        let mut expected = Vec::new();
        for (first, count) in &runs {
            let at = shift + *first as usize;
            for (number, word) in bytes[at..].chunks(width).take(*count as usize).enumerate() {
                let mut wide = [0; 8];
                wide[..width].copy_from_slice(word);
                let value = u64::from_le_bytes(wide);
                let value = match how {
                    0 => value.wrapping_add(add).min(most),
                    1 => value.wrapping_add(add),
                    _ => map.get(value as usize).copied().unwrap_or(0).into(),
                };
                match (how, shift % width == 0 || shift == 0) {
                    // Elements of other types stay as they were, or as the bytes that were copied first.
                    (1, true) if kinds[number] != id => expected.extend(vec![0xCC; width]),
                    (1, false) if kinds[number] != id => expected.extend_from_slice(word),
                    _ => expected.extend_from_slice(&value.to_le_bytes()[..width]),
                }
            }
        }
        prop_assert!(found == expected);
    }

    #[test]
    fn views_of_long_strings_name_another_buffer(runs in runs(3_000), shift in 0..3usize, add in 0..9u32) {
        let context = Context::primary(0).expect("a device");
        let views: Vec<[u32; 4]> =
            (0..6_000u32).map(|at| [at % 25, at, at / 7, at * 3]).collect();
        let bytes: Vec<u8> = views.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
        let padded = [&vec![0; shift], &bytes[..]].concat();
        let from = upload(&context, &padded).slice_with_length(shift, bytes.len()).expect("within");
        let runs: Runs = runs.iter().map(|(first, count)| (first * 16, *count)).collect();
        let total: u64 = runs.iter().map(|(_, count)| count).sum();
        let found = filled(&runs, 0, total * 16, Change::Views(add), &[&from]);
        let chosen = runs.iter().flat_map(|(first, count)| {
            &views[(*first / 16) as usize..(*first / 16 + count) as usize]
        });
        let expected: Vec<u8> = chosen
            .flat_map(|[size, a, buffer, b]| [*size, *a, buffer + if *size > 12 { add } else { 0 }, *b])
            .flat_map(u32::to_le_bytes)
            .collect();
        prop_assert!(found == expected);
    }
}

#[test]
fn what_lies_outside_or_askew_is_refused() {
    let context = Context::primary(0).expect("a device");
    let from = upload(&context, &[1; 64]);
    let to = [upload(&context, &[0; 64])];
    let piece = |to_position, from_position, count, change| {
        let piece = JoinPiece { to: 0, to_position, from: 0, from_position, count, change };
        join(&context, &to, &[Some(&from), None], &[piece])
    };
    let numbers = |width| Change::Sum { width, add: 0, most: u64::MAX };
    let typed = |types| Change::SumOfType { add: 0, types, position: 60, id: 0 };
    for (to_position, from_position, count, change) in [
        (0, 1, 64, Change::Bytes),
        (1, 0, 64, Change::Bytes),
        (1, 0, 512, Change::Bits),
        (0, 0, 9, numbers(8)),
        (0, 0, u64::MAX / 2, numbers(4)),
        (0, 0, 5, Change::Views(1)),
        (0, 0, 5, typed(0)),
    ] {
        let refused = piece(to_position, from_position, count, change);
        assert!(matches!(refused, Err(Error::OutOfBounds(_))), "{change:?}: {refused:?}");
    }
    let map = Change::Entry { width: 4, map: 2 };
    for change in [numbers(4), numbers(3), Change::Views(0), typed(1), map] {
        assert!(matches!(piece(2, 0, 1, change), Err(Error::Invalid(_))), "{change:?}");
    }
    assert_eq!(to[0].to_vec(), Ok(vec![0; 64]));
    assert_eq!(join(&context, &[], &[], &[]), Ok(()));
}

/// A fill that it had queued would write to the next buffer there.
#[test]
fn a_refused_join_has_queued_nothing() {
    let (_alone, context) = alone();
    let stream = Stream::non_blocking(&context).expect("room");
    let gate = Gate::on_default_stream(&context);
    let to = DeviceBuffer::suballocate(&context, &[100, 100, 300]).expect("room");
    let place = to[0].private_address();
    let (to_position, from_position, change) = (0, 0, Change::Bytes);
    let piece = JoinPiece { to: 1, to_position, from: 0, from_position, count: 101, change };
    let refused = join_into_new(&context, &to, &[Some(&to[0])], &[piece]);
    assert!(matches!(refused, Err(Error::OutOfBounds(_))), "{refused:?}");
    drop(to);
    let next = DeviceBuffer::allocate_packed(&context, 812).expect("room");
    assert_eq!(next.private_address(), place);
    drop(next.fill_in(CopyOrder::On(&stream), 7).expect("alive"));
    drop(stream.synchronize().expect("alive"));
    gate.open();
    assert_eq!(next.to_vec().expect("alive"), [7; 812]);
}
