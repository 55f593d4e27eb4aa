//! Copies of arrays: without bytes, queued, and refused.

use arrow_cuda_buffer::{CopyOrder, DeviceBuffer};
use arrow_cuda_context::{Context, Ready, Stream};
use arrow_cuda_numba_bridge::array_interface::ArrayInterface;
use arrow_cuda_numba_bridge::{ElementType, Error, Order, StridedArray, StridedLayout};
use std::mem::MaybeUninit;

fn context() -> Context {
    Context::primary(0).expect("a device")
}

/// A matrix of two-byte elements, the bytes of which count up.
fn matrix(rows: i64, columns: i64, order: Order) -> (StridedArray, Vec<u8>) {
    let layout = StridedLayout::dense(ElementType::int(2), vec![rows, columns], order);
    let array = StridedArray::allocate(&context(), layout.expect("small")).expect("room");
    let bytes: Vec<u8> = (0..array.layout().size()).map(|at| at as u8).collect();
    array.copy_from_host(&bytes, Order::C).expect("a copy");
    (array, bytes)
}

#[test]
fn elements_without_bytes_are_filled_with_nothing() {
    let layout =
        StridedLayout::row_major("V0".parse().expect("a type"), vec![3]).expect("a layout");
    let array = StridedArray::allocate(&context(), layout).expect("no memory");
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
    assert!(matches!(array.fill(&[1]), Err(Error::Invalid(_))));
    let frozen = array.read_only();
    for refused in [frozen.copy_from(&array), frozen.fill(&[1, 1]), frozen.fill(&[1, 2])] {
        assert_eq!(refused, Err(Error::Buffer(arrow_cuda_buffer::Error::ReadOnly)));
    }
    assert_eq!(array.to_vec(Order::C), Ok(bytes));
    let buffer = DeviceBuffer::allocate(&context(), 8).expect("room");
    for (offset, lengths, strides) in [(0, 5, 2), (7, 1, 2), (0, 2, -2), (usize::MAX, 1, 2)] {
        let layout = StridedLayout::strided(ElementType::int(2), vec![lengths], vec![strides]);
        let outside = StridedArray::new(&buffer, offset, layout.expect("small numbers"));
        assert!(matches!(outside, Err(Error::Invalid(_))));
    }
}

#[test]
fn only_an_array_without_bytes_lies_at_no_address() {
    let array = |length| {
        let (array, _) = matrix(length, 2, Order::C);
        ArrayInterface { address: None, ..ArrayInterface::of(&array, &Ready::by_caller()) }
    };
    assert_eq!(array(0).memory().expect("no bytes").address, 0);
    let error = array(6).memory().expect_err("bytes").to_string();
    assert!(error.contains("24 bytes at no address"), "{error}");
}
