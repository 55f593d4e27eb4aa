//! Layouts against the offsets of their elements, one by one.

mod views;

use arrow_cuda_numba_bridge::{ElementType, Span, StridedLayout};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// The first byte of every element, the last dimension stepped through first.
fn places(shape: &[i64], strides: &[i64]) -> Vec<i64> {
    let mut places = vec![0];
    for (length, stride) in shape.iter().zip(strides) {
        places = places
            .iter()
            .flat_map(|place| (0..*length).map(move |at| place + at * stride))
            .collect();
    }
    places
}

/// All indices, with the first dimension varying fastest.
fn places_by_column(shape: &[i64], strides: &[i64]) -> Vec<i64> {
    let reversed = |list: &[i64]| list.iter().rev().copied().collect::<Vec<_>>();
    places(&reversed(shape), &reversed(strides))
}

/// Whether elements at these offsets follow each other without gaps, in this order.
fn follow_each_other(places: &[i64], item_size: i64) -> bool {
    places.iter().enumerate().all(|(at, place)| *place == at as i64 * item_size)
}

fn bytes(item_size: u32) -> ElementType {
    format!("|V{item_size}").parse().expect("a typestr")
}

/// Lengths with strides, and the size of an element.
fn layouts() -> impl Strategy<Value = (Vec<i64>, Vec<i64>, i64)> {
    let by_chance = (prop::collection::vec((0..4i64, -40..40i64), 0..4), 1..5i64);
    prop_oneof![by_chance, dense_in_some_order()].prop_map(|(dimensions, item_size)| {
        let (shape, strides) = dimensions.into_iter().unzip();
        (shape, strides, item_size)
    })
}

/// Layouts without gaps, which chance rarely makes.
fn dense_in_some_order() -> impl Strategy<Value = (Vec<(i64, i64)>, i64)> {
    let dimensions = prop::collection::vec((0..4i64, any::<bool>()), 0..4);
    (dimensions, 1..5i64).prop_flat_map(|(dimensions, item_size)| {
        let mut dense = item_size;
        let dimensions: Vec<(i64, i64)> = dimensions
            .into_iter()
            .map(|(length, is_backwards)| {
                let stride = if is_backwards { -dense } else { dense };
                dense *= length.max(1);
                (length, stride)
            })
            .collect();
        (Just(dimensions).prop_shuffle(), Just(item_size))
    })
}

proptest! {
    #[test]
    fn a_layout_is_what_its_elements_cover((shape, strides, item_size) in layouts()) {
        let places = places(&shape, &strides);
        let covered: BTreeSet<i64> =
            places.iter().flat_map(|place| *place..place + item_size).collect();
        let layout = StridedLayout::strided(bytes(item_size as u32), shape.clone(), strides.clone());
        let layout = layout.expect("small numbers");
        let expected = match (covered.first(), covered.last()) {
            (Some(first), Some(last)) => {
                Span { start: *first, size: (last - first + 1) as usize }
            }
            _ => Span::default(),
        };
        prop_assert_eq!(layout.span(), expected);
        let size = places.len() * item_size as usize;
        prop_assert_eq!(layout.size(), size);
        let has_no_gaps = covered.len() == size && expected.size == size;
        prop_assert_eq!(layout.is_contiguous(), has_no_gaps);
        prop_assert_eq!(layout.is_row_major(), follow_each_other(&places, item_size));
        let by_column = places_by_column(&shape, &strides);
        prop_assert_eq!(layout.is_column_major(), follow_each_other(&by_column, item_size));
    }

    #[test]
    fn nothing_overflows(
        layout in prop::collection::vec((any::<i64>(), any::<i64>()), 0..5), item_size in 0..9u32,
    ) {
        let (shape, strides): (Vec<i64>, Vec<i64>) = layout.into_iter().unzip();
        drop(StridedLayout::row_major(bytes(item_size), shape.clone()));
        if let Ok(layout) = StridedLayout::strided(bytes(item_size), shape, strides) {
            let span = layout.span();
            prop_assert!(span.start <= 0 && span.start.unsigned_abs() as usize <= span.size);
            if layout.is_contiguous() {
                prop_assert_eq!(span.size, layout.size());
            }
        }
    }
}

#[test]
fn an_array_without_elements_has_no_bytes() {
    for shape in [vec![0], vec![i64::MAX, i64::MAX, 0]] {
        let layout = StridedLayout::row_major(bytes(8), shape).expect("a layout");
        assert_eq!((layout.size(), layout.span()), (0, Span::default()));
    }
    let layout = StridedLayout::strided(bytes(8), vec![0, 2], vec![i64::MAX, 3]).expect("a layout");
    assert_eq!((layout.size(), layout.is_contiguous()), (0, true));
}
