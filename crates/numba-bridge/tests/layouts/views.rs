//! Views against the elements that they should have, one by one.

use super::bytes;
use arrow_cuda_numba_bridge::{ElementType, Error, Index, Order, Slice, StridedLayout};
use proptest::prelude::*;
use rstest::rstest;

proptest! {
    #[test]
    fn nothing_overflows(
        layout in prop::collection::vec((any::<i64>(), any::<i64>()), 0..4),
        numbers in prop::collection::vec(any::<i64>(), 3), item_size in 0..9u32,
    ) {
        let (shape, strides): (Vec<i64>, Vec<i64>) = layout.into_iter().unzip();
        let Ok(layout) = StridedLayout::strided(bytes(item_size), shape, strides) else { return Ok(()) };
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
#[case(&[Index::Rest, Index::Rest], "a single ellipsis")]
#[case(&[Index::New; 63], "must be within [0, 64], indexing result would have 65")]
fn indices_that_make_no_view(#[case] entries: &[Index], #[case] text: &str) {
    let layout = StridedLayout::row_major(bytes(1), vec![2, 3]).expect("small numbers");
    let error = layout.index(entries).expect_err("no view");
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
    let layout = StridedLayout::row_major(bytes(1), vec![2, 3]).expect("small numbers");
    let error = layout.reshape(shape, Order::C).expect_err("no such shape");
    assert!(matches!(&error, Error::Invalid(found) if found.contains(text)), "{error}");
}

#[rstest]
#[case(9, &[])]
#[case(4, &[3])]
#[case(0, &[-1])]
#[case(usize::MAX, &[])]
#[case(0, &[1 << 62, 1 << 62])]
fn a_field_lies_in_its_structure(#[case] offset: usize, #[case] own: &[i64]) {
    let structures = StridedLayout::row_major(bytes(12), vec![2, 3]).expect("small numbers");
    let field = structures.field(offset, ElementType::float(4), own);
    assert!(matches!(field, Err(Error::Invalid(_))), "{field:?}");
}

#[test]
fn a_transpose_names_each_dimension_once() {
    let layout = StridedLayout::row_major(bytes(1), vec![2, 3]).expect("small");
    assert_eq!(layout.transpose(&[1, 0]).expect("both").shape(), [3, 2]);
    for axes in [&[0][..], &[0, 1, 1], &[0, 0], &[0, 2]] {
        layout.transpose(axes).expect_err("not each once");
    }
}
