//! Device memory as elements.

use arrow_cuda_buffer::{CopyOrder, DeviceBuffer, DeviceSlice, Error};
use arrow_cuda_context::{Context, Device, Stream};
use proptest::prelude::*;
use std::ops::Bound;

fn context() -> Context {
    Context::primary(0).expect("a device")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn elements_survive_the_device(
        numbers in prop::collection::vec(any::<i64>(), 0..300),
        pairs in prop::collection::vec(any::<[u16; 2]>(), 0..300),
    ) {
        let on_device = DeviceSlice::from_slice(&context(), &numbers)?;
        prop_assert_eq!(on_device.len(), numbers.len());
        prop_assert_eq!(on_device.buffer().len(), 8 * numbers.len());
        prop_assert_eq!(on_device.to_vec()?, numbers);
        prop_assert_eq!(DeviceSlice::from_slice(&context(), &pairs)?.to_vec()?, pairs);
    }

    #[test]
    fn ranges_are_those_of_slices(
        length in 0..40usize,
        start in prop_oneof![Just(usize::MAX), 0..50usize],
        end in prop_oneof![Just(usize::MAX), 0..50usize],
        kinds in any::<[u8; 2]>(),
    ) {
        let numbers: Vec<u32> = (0..length as u32).collect();
        let on_device = DeviceSlice::from_slice(&context(), &numbers)?;
        let bound = |kind: u8, at| match kind % 3 {
            0 => Bound::Included(at),
            1 => Bound::Excluded(at),
            _ => Bound::Unbounded,
        };
        let range = (bound(kinds[0], start), bound(kinds[1], end));
        match (numbers.get(range), on_device.slice(range)) {
            (Some(expected), Ok(found)) => prop_assert_eq!(found.to_vec()?, expected),
            (None, Err(Error::OutOfBounds(_))) => {}
            other => prop_assert!(false, "{range:?} of {length}: {other:?}"),
        }
    }
}

#[test]
fn other_lengths_are_refused_and_nothing_changes() {
    let numbers = DeviceSlice::from_slice(&context(), &[1u16, 2, 3]).expect("room");
    let others = DeviceSlice::from_slice(&context(), &[7u16, 8]).expect("room");
    let stream = Stream::new(&context()).expect("a stream");
    let mut room = [9u16; 4];
    for refused in [
        numbers.copy_from_host(&[4, 5]),
        numbers.copy_from_host(&[4, 5, 6, 7]),
        numbers.copy_to_host(&mut room),
        numbers.copy_from_device(&others),
        numbers.copy_from_device_in(CopyOrder::On(&stream), &others).map(drop),
    ] {
        assert!(matches!(refused, Err(Error::OutOfBounds(_))), "{refused:?}");
    }
    stream.synchronize().expect("nothing queued");
    assert_eq!((numbers.to_vec().expect("a copy"), room), (vec![1, 2, 3], [9; 4]));
}

#[test]
fn a_buffer_must_hold_whole_aligned_elements() {
    let buffer = DeviceBuffer::allocate(&context(), 24).expect("room");
    let as_numbers = |at, size| {
        DeviceSlice::<u64>::from_buffer(buffer.slice_with_length(at, size).expect("within"))
            .map(|s| s.len())
    };
    assert_eq!(as_numbers(0, 24), Ok(3));
    assert_eq!(as_numbers(8, 0), Ok(0));
    assert!(matches!(as_numbers(0, 20), Err(Error::Invalid(_))));
    assert!(matches!(as_numbers(4, 16), Err(Error::Invalid(_))));
    // An array of bytes has that size, too, and no alignment.
    let bytes = buffer.slice_with_length(4, 16).expect("within");
    let pairs = DeviceSlice::<[u8; 8]>::from_buffer(bytes.clone()).expect("fits");
    assert_eq!(pairs.into_buffer().private_address(), bytes.private_address());
}

#[test]
fn more_elements_than_addresses_are_refused() {
    let refused = DeviceSlice::<u64>::allocate(&context(), usize::MAX);
    assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
}

#[test]
fn elements_go_to_another_device() {
    if Device::count().expect("a driver") < 2 {
        return;
    }
    let second = Context::primary(1).expect("a second device");
    let here = DeviceSlice::from_slice(&context(), &[1.0f64, -0.0]).expect("room");
    let there = DeviceSlice::allocate(&second, 2).expect("room");
    there.copy_from_device(&here).expect("a peer copy");
    assert_eq!(there.to_vec().expect("a copy"), [1.0, -0.0]);
}

#[test]
fn a_range_that_no_number_ends_is_refused_by_its_numbers() {
    let context = Context::primary(0).expect("a device");
    let numbers = DeviceSlice::from_slice(&context, &[1u8, 2, 3]).expect("room");
    let text = numbers.slice(1..=usize::MAX).expect_err("too long").to_string();
    assert_eq!(text, "the elements from 1 on, up to 18446744073709551616, do not lie within 3");
}
