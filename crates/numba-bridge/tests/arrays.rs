//! Copies of arrays in every layout, against the same elements on the host.

use arrow_cuda_buffer::{CopyOrder, DeviceBuffer};
use arrow_cuda_context::{Context, Stream};
use arrow_cuda_numba_bridge::{DeviceArray, ElementType, Error, Index, Layout, Order, Slice};
use proptest::prelude::*;
use std::mem::MaybeUninit;

fn context() -> Context {
    Context::primary(0).expect("a device")
}

/// A matrix of two-byte elements, the bytes of which count up.
fn matrix(rows: i64, columns: i64, order: Order) -> (DeviceArray, Vec<u8>) {
    let layout = Layout::dense(ElementType::int(2), vec![rows, columns], order);
    let array = DeviceArray::allocate(&context(), layout.expect("small")).expect("room");
    let bytes: Vec<u8> = (0..array.layout().size()).map(|at| at as u8).collect();
    array.copy_from_host(&bytes, Order::C).expect("a copy");
    (array, bytes)
}

fn every(step: i64) -> Index {
    Index::Slice(Slice { step: Some(step), ..Slice::default() })
}

/// What `every(step)` takes of `length` elements.
fn taken(length: i64, step: i64) -> Vec<i64> {
    let all: Vec<i64> = match step > 0 {
        true => (0..length).collect(),
        false => (0..length).rev().collect(),
    };
    all.into_iter().step_by(step.unsigned_abs() as usize).collect()
}

fn steps() -> impl Strategy<Value = i64> {
    prop::sample::select(vec![-3i64, -2, -1, 1, 2, 3])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn parts_have_their_elements_in_either_order(
        rows in 1..6i64, columns in 1..6i64, by_row in steps(), by_column in steps(),
        order in prop::sample::select(vec![Order::C, Order::Fortran]),
    ) {
        let (array, bytes) = matrix(rows, columns, order);
        let part = array.index(&[every(by_row), every(by_column)]).expect("slices");
        let element = |row: i64, column: i64| {
            let at = 2 * (row * columns + column) as usize;
            bytes[at..at + 2].to_vec()
        };
        let (rows, columns) = (taken(rows, by_row), taken(columns, by_column));
        let by_rows: Vec<u8> = rows.iter().flat_map(|row| {
            columns.iter().flat_map(|column| element(*row, *column))
        }).collect();
        let by_columns: Vec<u8> = columns.iter().flat_map(|column| {
            rows.iter().flat_map(|row| element(*row, *column))
        }).collect();
        prop_assert_eq!(part.to_vec(Order::C), Ok(by_rows.clone()));
        prop_assert_eq!(part.to_vec(Order::Fortran), Ok(by_columns.clone()));
        prop_assert_eq!(part.copy(Order::Fortran).expect("room").buffer().to_vec(), Ok(by_columns));
        // And back into the gaps: nothing between them changes.
        let reversed: Vec<u8> = by_rows.iter().rev().copied().collect();
        part.copy_from_host(&reversed, Order::C).expect("a copy");
        prop_assert_eq!(part.to_vec(Order::C), Ok(reversed));
        part.copy_from_host(&by_rows, Order::C).expect("a copy");
        prop_assert_eq!(array.to_vec(Order::C), Ok(bytes));
    }
}

#[test]
fn elements_are_filled_and_repeated() {
    let (array, _) = matrix(3, 2, Order::C);
    array.fill(&[7, 7]).expect("a fill");
    let column = array.index(&[Index::Rest, Index::At(1)]).expect("a column");
    column.fill(&[1, 2]).expect("a fill");
    assert_eq!(array.to_vec(Order::C), Ok([7, 7, 1, 2].repeat(3)));
    let row = array.index(&[Index::At(0)]).expect("a row");
    row.fill(&[5, 6]).expect("a fill");
    array.copy_from(&row).expect("a copy");
    assert_eq!(array.to_vec(Order::C), Ok([5, 6].repeat(6)));
    assert!(matches!(row.fill(&[1]), Err(Error::Invalid(_))));
}

#[test]
fn elements_without_bytes_are_filled_with_nothing() {
    let layout = Layout::row_major("V0".parse().expect("a type"), vec![3]).expect("a layout");
    let array = DeviceArray::allocate(&context(), layout).expect("no memory");
    assert_eq!(array.fill(&[]), Ok(()));
    assert_eq!(array.to_vec(Order::C), Ok(vec![]));
}

#[test]
fn queued_copies_follow_each_other() {
    let (array, bytes) = matrix(3, 4, Order::C);
    let stream = Stream::new(&context()).expect("a stream");
    let when = CopyOrder::On(&stream);
    let turned = array.with_layout(|layout| Ok(layout.clone().reversed())).expect("its transpose");
    let copy = turned.copy(Order::C).expect("room");
    copy.fill(&[0, 0]).expect("a fill");
    copy.copy_from_in(when, &turned).expect("queued");
    let mut out = vec![MaybeUninit::new(0u8); bytes.len()];
    for wrong in [0, bytes.len() - 1] {
        // SAFETY: nothing is queued.
        let (down, up) = unsafe {
            (
                copy.copy_to_host_in(when, &mut out[..wrong], Order::C, || Box::new(())),
                copy.copy_from_host_in(when, &bytes[..wrong], Order::C, || Box::new(())),
            )
        };
        assert!(matches!((down, up), (Err(Error::Invalid(_)), Err(Error::Invalid(_)))));
    }
    // SAFETY: `out` outlives the wait below, and is not used before.
    unsafe { copy.copy_to_host_in(when, &mut out, Order::Fortran, || Box::new(())) }
        .expect("queued");
    stream.synchronize().expect("no failure");
    // SAFETY: all bytes were initialised from the beginning.
    assert!(out.iter().map(|byte| unsafe { byte.assume_init() }).eq(bytes));
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    let (array, bytes) = matrix(3, 2, Order::C);
    let (other, _) = matrix(2, 2, Order::C);
    assert!(matches!(array.copy_from(&other), Err(Error::Invalid(_))));
    let wide = array.with_layout(|layout| layout.with_element(ElementType::int(4)));
    assert!(matches!(array.copy_from(&wide.expect("a divisor")), Err(Error::Invalid(_))));
    assert!(matches!(array.copy_from_host(&bytes[1..], Order::C), Err(Error::Invalid(_))));
    let frozen = array.read_only();
    for refused in [frozen.copy_from(&array), frozen.fill(&[1, 1]), frozen.fill(&[1, 2])] {
        assert_eq!(refused, Err(Error::Buffer(arrow_cuda_buffer::Error::ReadOnly)));
    }
    assert_eq!(array.to_vec(Order::C), Ok(bytes));
    let buffer = DeviceBuffer::allocate(&context(), 8).expect("room");
    for (offset, lengths, strides) in [(0, 5, 2), (7, 1, 2), (0, 2, -2), (u64::MAX, 1, 2)] {
        let layout = Layout::strided(ElementType::int(2), vec![lengths], vec![strides]);
        let outside = DeviceArray::new(&buffer, offset, layout.expect("small numbers"));
        assert!(matches!(outside, Err(Error::Invalid(_))));
    }
}
