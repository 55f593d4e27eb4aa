//! Views against the elements that they should have, one by one.

use super::{bytes, layouts, places, places_by_column};
use crate::layout::{Index, Layout, Order, Slice};
use crate::{ElementType, Error};
use proptest::prelude::*;
use rstest::rstest;

/// The indices of a slice, by definition: from the start on, step by step.
fn taken(slice: Slice, length: i64) -> Vec<i64> {
    let step = slice.step.unwrap_or(1);
    let from_end = |position: i64| if position < 0 { position + length } else { position };
    let (mut at, stop) = match step > 0 {
        true => (
            slice.start.map_or(0, |start| from_end(start).max(0)),
            slice.stop.map_or(length, |stop| from_end(stop).min(length)),
        ),
        false => (
            slice.start.map_or(length - 1, |start| from_end(start).min(length - 1)),
            slice.stop.map_or(-1, |stop| from_end(stop).max(-1)),
        ),
    };
    let mut taken = Vec::new();
    while (step > 0 && at < stop) || (step < 0 && at > stop) {
        taken.push(at);
        at += step;
    }
    taken
}

fn slices() -> impl Strategy<Value = Slice> {
    let position = || prop::option::of(-7..7i64);
    let step =
        prop::option::of((1..4i64, any::<bool>()).prop_map(|(step, is_back)| match is_back {
            true => -step,
            false => step,
        }));
    (position(), position(), step).prop_map(|(start, stop, step)| Slice { start, stop, step })
}

fn layout((shape, strides, item_size): (Vec<i64>, Vec<i64>, i64)) -> Layout {
    Layout::strided(bytes(item_size as u32), shape, strides).expect("small numbers")
}

proptest! {
    #[test]
    fn slices_have_the_elements_that_they_name(
        described in layouts(), slices in prop::collection::vec(slices(), 0..4),
    ) {
        let layout = layout(described);
        let slices = &slices[..slices.len().min(layout.ndim())];
        let entries: Vec<_> = slices.iter().copied().map(Index::Slice).collect();
        let (part, offset) = layout.index(&entries).expect("every slice fits");
        // One dimension after the other: the places of the elements that are left.
        let mut expected = vec![0];
        for (at, (length, stride)) in layout.shape().iter().zip(layout.strides()).enumerate() {
            let all = Slice::default();
            let left = taken(slices.get(at).copied().unwrap_or(all), *length);
            expected = expected
                .iter()
                .flat_map(|place| left.iter().map(move |at| place + at * stride))
                .collect();
        }
        let found = places(part.shape(), part.strides());
        let found: Vec<i64> = found.iter().map(|place| place + offset).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn an_index_is_a_slice_without_its_dimension(described in layouts(), at in -5..5i64) {
        let layout = layout(described);
        prop_assume!(layout.ndim() > 0);
        let length = layout.shape()[0];
        let from_start = if at < 0 { at + length } else { at };
        match layout.index(&[Index::At(at)]) {
            Ok((part, offset)) => {
                prop_assert!((0..length).contains(&from_start));
                prop_assert_eq!(part.shape(), &layout.shape()[1..]);
                let expected = if part.size() == 0 { 0 } else { from_start * layout.strides()[0] };
                prop_assert_eq!(offset, expected);
            }
            Err(Error::Index(_)) => prop_assert!(!(0..length).contains(&from_start)),
            Err(other) => prop_assert!(false, "{other}"),
        }
    }

    #[test]
    fn a_reshaped_array_has_its_elements_in_the_same_order(
        described in layouts(), lengths in prop::collection::vec(1..5i64, 0..4),
        order in prop_oneof![Just(Order::C), Just(Order::Fortran)],
    ) {
        let layout = layout(described);
        // A shape of as many elements: the given lengths, as far as they divide the number.
        let (mut shape, mut left) = (Vec::new(), layout.count());
        for length in lengths {
            if left % length == 0 {
                shape.push(length);
                left /= length;
            }
        }
        shape.push(left);
        let in_order = |layout: &Layout| match order {
            Order::C => places(layout.shape(), layout.strides()),
            Order::Fortran => places_by_column(layout.shape(), layout.strides()),
        };
        match layout.reshape(&shape, order) {
            Ok(reshaped) => {
                prop_assert_eq!(reshaped.shape(), &shape[..]);
                prop_assert_eq!(in_order(&reshaped), in_order(&layout));
            }
            // Without gaps in that order, any shape is possible.
            Err(Error::NeedsCopy(_)) => prop_assert!(!layout.is_dense_in_order(order)),
            Err(other) => prop_assert!(false, "{other}"),
        }
    }

    #[test]
    fn permuted_dimensions_keep_their_strides(described in layouts(), seed in any::<u64>()) {
        let layout = layout(described);
        let mut axes: Vec<i64> = (0..layout.ndim() as i64).collect();
        axes.sort_by_key(|axis| seed.rotate_left(13 * *axis as u32));
        let permuted = layout.transpose(&axes).expect("each dimension once");
        for (at, axis) in axes.iter().enumerate() {
            prop_assert_eq!(permuted.shape()[at], layout.shape()[*axis as usize]);
            prop_assert_eq!(permuted.strides()[at], layout.strides()[*axis as usize]);
        }
        prop_assert_eq!(permuted.span(), layout.span());
    }

    #[test]
    fn what_is_broadcast_repeats_its_elements(
        described in layouts(), more in prop::collection::vec(1..3i64, 0..3), times in 1..4i64,
    ) {
        let layout = layout(described);
        let mut shape = more;
        shape.extend(layout.shape().iter().map(|length| if *length == 1 { times } else { *length }));
        let repeated = layout.broadcast_to(&shape).expect("lengths of 1 alone are different");
        let unique = |layout: &Layout| -> std::collections::BTreeSet<i64> {
            places(layout.shape(), layout.strides()).into_iter().collect()
        };
        prop_assert_eq!(unique(&repeated), unique(&layout));
        prop_assert_eq!(repeated.shape(), &shape[..]);
    }

    #[test]
    fn nothing_overflows(
        layout in prop::collection::vec((any::<i64>(), any::<i64>()), 0..4),
        numbers in prop::collection::vec(any::<i64>(), 3), item_size in 0..9u32,
    ) {
        let (shape, strides): (Vec<i64>, Vec<i64>) = layout.into_iter().unzip();
        let Ok(layout) = Layout::strided(bytes(item_size), shape, strides) else { return Ok(()) };
        let slice = Slice { start: Some(numbers[0]), stop: Some(numbers[1]), step: Some(numbers[2]) };
        for entries in [&[Index::Slice(slice)][..], &[Index::At(numbers[0]), Index::New], &[]] {
            if let Ok((part, _)) = layout.index(entries) {
                prop_assert!(part.span().size <= layout.span().size);
            }
        }
        for order in [Order::C, Order::Fortran] {
            drop(layout.reshape(&numbers, order));
            drop(layout.ravel(order));
        }
        drop(layout.transpose(&numbers));
        drop(layout.squeeze(Some(&numbers)));
        drop(layout.broadcast_to(&numbers));
        for size in 0..9 {
            drop(layout.with_element(bytes(size)));
        }
    }
}

#[rstest]
#[case(&[Index::At(2)], "index 2 is out of bounds for axis 0 with size 2")]
#[case(&[Index::Rest, Index::At(-4)], "index -4 is out of bounds for axis 1 with size 3")]
#[case(&[Index::At(0); 3], "array is 2-dimensional, but 3 were indexed")]
#[case(&[Index::Rest, Index::Rest], "a single ellipsis")]
#[case(&[Index::New; 63], "must be within [0, 64], indexing result would have 65")]
fn indices_outside(#[case] entries: &[Index], #[case] text: &str) {
    let layout = Layout::row_major(bytes(1), vec![2, 3]).expect("small numbers");
    let error = layout.index(entries).expect_err("outside");
    assert!(matches!(&error, Error::Index(found) if found.contains(text)), "{error}");
}

#[rstest]
#[case(&[4], "cannot reshape array of size 6 into shape (4,)")]
#[case(&[-1, 4], "cannot reshape array of size 6 into shape (-1,4)")]
#[case(&[-1, -1], "one unknown")]
#[case(&[-2, -3], "negative dimensions")]
#[case(&[0, -1], "cannot reshape")]
#[case(&[i64::MAX, 2], "cannot reshape")]
fn shapes_that_do_not_fit(#[case] shape: &[i64], #[case] text: &str) {
    let layout = Layout::row_major(bytes(1), vec![2, 3]).expect("small numbers");
    let error = layout.reshape(shape, Order::C).expect_err("no such shape");
    assert!(matches!(&error, Error::Invalid(found) if found.contains(text)), "{error}");
}

#[test]
fn other_elements_divide_the_last_dimension() {
    let halves = Layout::row_major(ElementType::int(2), vec![2, 6]).expect("small numbers");
    let wide = halves.with_element(ElementType::float(4)).expect("a divisor");
    assert_eq!((wide.shape(), wide.strides()), (&[2, 3][..], &[12, 4][..]));
    let bytes = wide.with_element(ElementType::uint(1)).expect("smaller ones");
    assert_eq!(bytes.shape(), [2, 12]);
    let (by_two, _) = halves
        .index(&[Index::Rest, Index::Slice(Slice { step: Some(2), ..Slice::default() })])
        .expect("a slice");
    for (layout, element) in [
        (&by_two, ElementType::uint(1)),
        (&halves, ElementType::float(8)),
        (&halves, super::bytes(0)),
    ] {
        assert!(matches!(layout.with_element(element), Err(Error::Invalid(_))));
    }
}

#[rstest]
#[case(0, &[], &[2, 3], &[36, 12])]
#[case(8, &[], &[2, 3], &[36, 12])]
#[case(4, &[2], &[2, 3, 2], &[36, 12, 4])]
#[case(12, &[0, 7], &[2, 3, 0, 7], &[36, 12, 28, 4])]
fn a_field_follows_its_structures(
    #[case] offset: u64,
    #[case] own: &[i64],
    #[case] shape: &[i64],
    #[case] strides: &[i64],
) {
    let structures = Layout::row_major(bytes(12), vec![2, 3]).expect("small numbers");
    let field = structures.field(offset, ElementType::float(4), own).expect("a field");
    assert_eq!((field.shape(), field.strides()), (shape, strides));
}

#[rstest]
#[case(9, &[])]
#[case(4, &[3])]
#[case(0, &[-1])]
#[case(u64::MAX, &[])]
#[case(0, &[1 << 62, 1 << 62])]
fn a_field_lies_in_its_structure(#[case] offset: u64, #[case] own: &[i64]) {
    let structures = Layout::row_major(bytes(12), vec![2, 3]).expect("small numbers");
    let field = structures.field(offset, ElementType::float(4), own);
    assert!(matches!(field, Err(Error::Invalid(_))), "{field:?}");
}
