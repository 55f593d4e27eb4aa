//! Copies between layouts, on the device, against the same done one element after the other.

#[path = "../common/exact.rs"]
mod exact;
#[path = "../../../driver/tests/common/simulator.rs"]
mod simulator;

mod cases;

use arrow_cuda_buffer::{
    CopyOrder, DeviceBuffer, Elements, Error, copy_elements, copy_elements_in,
};
use arrow_cuda_context::{Arrival, Context, Device, Stream};
use arrow_cuda_driver::is_simulated;
use cases::{Case, Side, cases, long_shapes, small_shapes};
use exact::upload;
use proptest::prelude::*;
use rstest::rstest;
use simulator::{count_of, in_own_process, with_settings};

fn context() -> Context {
    Context::primary(0).expect("a device")
}

/// Bytes that differ from their neighbours, and from those of another seed.
fn pattern(seed: usize, size: usize) -> Vec<u8> {
    (0..size).map(|at| ((at + seed).wrapping_mul(0x9E37_79B9) >> 13) as u8).collect()
}

fn elements<'a>(buffer: &'a DeviceBuffer, side: &'a Side) -> Elements<'a> {
    Elements { buffer, offset: side.offset, strides: &side.strides }
}

/// Makes the copy of a case between buffers of two contexts.
fn check(case: &Case, to: &Context, from: &Context, stream: Option<&Stream>) {
    let (before, source) = (pattern(1, case.to.size), pattern(2, case.from.size));
    let (target, from) = (upload(to, &before), upload(from, &source));
    let (to, from) = (elements(&target, &case.to), elements(&from, &case.from));
    match stream {
        None => copy_elements(to, from, &case.shape, case.item_size).expect("a copy"),
        Some(stream) => {
            let copied =
                copy_elements_in(CopyOrder::On(stream), to, from, &case.shape, case.item_size);
            drop(copied.expect("a copy"));
            drop(stream.synchronize().expect("alive"));
        }
    }
    assert_eq!(target.to_vec().expect("a copy"), case.apply(&before, &source));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_layouts(case in prop_oneof![4 => cases(small_shapes()), 1 => cases(long_shapes())]) {
        check(&case, &context(), &context(), None);
    }

    #[test]
    fn any_layouts_on_a_stream(case in cases(small_shapes())) {
        let stream = Stream::non_blocking(&context())?;
        check(&case, &context(), &context(), Some(&stream));
    }

    #[test]
    fn arrays_that_overlap(case in cases(small_shapes()), apart in -100..100isize, queued: bool) {
        // Both in one buffer, the source's part of which begins before that of the target, or after it.
        let (to, from) = (apart.max(0).unsigned_abs(), (-apart).max(0).unsigned_abs());
        let size = (to + case.to.size).max(from + case.from.size);
        let mut case = case;
        case.to = Side { offset: to + case.to.offset, size, ..case.to };
        case.from = Side { offset: from + case.from.offset, size, ..case.from };
        let before = pattern(3, size);
        let buffer = upload(&context(), &before);
        let (to, from) = (elements(&buffer, &case.to), elements(&buffer, &case.from));
        if queued {
            let stream = Stream::non_blocking(&context())?;
            copy_elements_in(CopyOrder::On(&stream), to, from, &case.shape, case.item_size)?;
            drop(stream.synchronize()?);
        } else {
            copy_elements(to, from, &case.shape, case.item_size)?;
        }
        prop_assert_eq!(buffer.to_vec()?, case.apply(&before, &before));
    }

    #[test]
    fn any_layouts_on_two_devices(case in cases(small_shapes()), by in 0..3u32) {
        if Device::count()? < 2 {
            return Ok(());
        }
        let (here, there) = (context(), Context::primary(1)?);
        let stream = match by {
            0 => None,
            1 => Some(Stream::non_blocking(&here)?),
            _ => Some(Stream::non_blocking(&there)?),
        };
        check(&case, &there, &here, stream.as_ref());
    }
}

#[rstest]
fn large_matrices_are_transposed(#[values(1, 2, 3, 4, 8, 12, 16, 24)] item_size: usize) {
    // On a GPU 64 MiB.
    let (rows, columns) = match is_simulated().expect("a driver") {
        true => (61, 70),
        false => (4099, (64 << 20) / item_size / 4099),
    };
    let strides = [[columns, 1], [1, rows]];
    let [to, from] = strides.map(|strides| strides.map(|by| (by * item_size) as i64));
    let bytes = pattern(4, rows * columns * item_size);
    let source = upload(&context(), &bytes);
    let target = DeviceBuffer::allocate(&context(), source.len()).expect("room");
    let to = Elements { buffer: &target, offset: 0, strides: &to };
    let from = Elements { buffer: &source, offset: 0, strides: &from };
    copy_elements(to, from, &[rows, columns], item_size).expect("a copy");
    let places = (0..rows).flat_map(|row| (0..columns).map(move |column| column * rows + row));
    let expected: Vec<u8> =
        places.flat_map(|at| bytes[at * item_size..][..item_size].iter().copied()).collect();
    assert!(target.equals_host(&expected).expect("a comparison"));
}

/// More words, and more squares of them, than one step of the largest grid copies.
#[rstest]
#[case::of_words(vec![132 * 16 * 1024 + 300], vec![2], vec![3])]
#[case::of_squares(vec![1480, 1490], vec![1490, 1], vec![1, 1480])]
fn blocks_take_turns(#[case] shape: Vec<usize>, #[case] to: Vec<i64>, #[case] from: Vec<i64>) {
    let side = |strides: Vec<i64>| {
        let reaches = shape
            .iter()
            .zip(&strides)
            .map(|(length, by)| (length - 1) * by.unsigned_abs() as usize);
        let size = reaches.sum::<usize>() + 1;
        Side { offset: 0, strides, size }
    };
    let (to, from) = (side(to), side(from));
    check(&Case { shape, item_size: 1, to, from }, &context(), &context(), None);
}

#[test]
fn a_scalar_fills_a_part() {
    let buffer = upload(&context(), b"................");
    let part = Elements { buffer: &buffer, offset: 13, strides: &[-8, 2] };
    let scalar = upload(&context(), b"xyz");
    let scalar = Elements { buffer: &scalar, offset: 1, strides: &[0, 0] };
    copy_elements(part, scalar, &[2, 2], 1).expect("a copy");
    assert_eq!(buffer.to_vec().expect("a copy"), b".....y.y.....y.y");
    // A dimension of one element may have any stride.
    let [part, from] = [part, scalar].map(|side| Elements { strides: &[0, 2], ..side });
    copy_elements(part, from, &[1, 1], 2).expect("a copy");
    assert_eq!(buffer.to_vec().expect("a copy"), b".....y.y.....yzy");
    // An array of no dimensions is one element.
    let one = Elements { strides: &[], ..part };
    copy_elements(one, Elements { strides: &[], ..scalar }, &[], 2).expect("a copy");
    assert_eq!(buffer.to_vec().expect("a copy"), b".....y.y.....yzy");
}

#[rstest]
#[case::behind_the_end(3, &[2], &[4], 2)]
#[case::before_the_start(3, &[-2], &[3], 2)]
#[case::behind_the_end_for_one_dimension(0, &[-1, 4], &[1, 3], 3)]
#[case::with_strides_that_overflow(0, &[i64::MAX], &[usize::MAX], 1)]
#[case::with_strides_that_overflow_in_two(0, &[i64::MAX; 2], &[usize::MAX; 2], 1)]
#[case::with_strides_that_overflow_in_many(0, &[i64::MAX; 64], &[usize::MAX; 64], 1)]
#[case::with_negative_strides_that_overflow(0, &[i64::MIN], &[usize::MAX], 1)]
#[case::with_negative_strides_that_overflow_in_many(0, &[i64::MIN; 64], &[usize::MAX; 64], 1)]
#[case::with_an_offset_that_overflows(usize::MAX, &[1], &[1], 1)]
#[case::with_a_huge_item(0, &[1], &[1], usize::MAX)]
#[case::with_a_huge_item_that_overflows(usize::MAX, &[], &[], usize::MAX)]
fn elements_outside_are_refused(
    #[case] offset: usize,
    #[case] strides: &[i64],
    #[case] shape: &[usize],
    #[case] item_size: usize,
) {
    let (small, large) = (upload(&context(), &pattern(5, 10)), upload(&context(), &[7; 200]));
    let outside = Elements { buffer: &small, offset, strides };
    let repeated = vec![0; shape.len()];
    let inside = Elements { buffer: &large, offset: 100, strides: &repeated };
    for (to, from) in [(outside, inside), (inside, outside)] {
        let refused = copy_elements(to, from, shape, item_size);
        assert!(matches!(refused, Err(Error::OutOfBounds(_))), "{refused:?}");
    }
    assert_eq!(small.to_vec().expect("a copy"), pattern(5, 10));
    assert_eq!(large.to_vec().expect("a copy"), [7; 200]);
}

#[test]
fn wrong_arguments_are_refused_and_change_nothing() {
    let (buffer, data) = (upload(&context(), b"0123"), upload(&context(), b"abcd"));
    let (to, from) = (
        Elements { buffer: &buffer, offset: 0, strides: &[1] },
        Elements { buffer: &data, offset: 0, strides: &[1] },
    );
    let read_only = buffer.read_only();
    for strides in [&[1], &[2]] {
        let to = Elements { buffer: &read_only, strides, ..to };
        assert_eq!(copy_elements(to, from, &[2], 1), Err(Error::ReadOnly));
    }
    for strides in [&[0][..], &[], &[1, 1]] {
        let refused = copy_elements(Elements { strides, ..to }, from, &[4], 1);
        assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    }
    let overlapping: [(&[i64], &[usize], usize); 2] = [(&[1, 1], &[2, 2], 1), (&[-1], &[2], 2)];
    for (strides, shape, item_size) in overlapping {
        let to = Elements { offset: 1, strides, ..to };
        let refused = copy_elements(to, Elements { offset: 1, strides, ..from }, shape, item_size);
        assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    }
    let refused = copy_elements(to, Elements { strides: &[], ..from }, &[4], 1);
    assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    assert_eq!(buffer.to_vec().expect("a copy"), b"0123");
}

#[test]
fn no_elements_are_copied_from_anywhere() {
    let (buffer, empty) = (upload(&context(), b"0123"), upload(&context(), b""));
    let to = Elements { buffer: &buffer, offset: 2, strides: &[1, 0] };
    let from = Elements { buffer: &empty, offset: 50, strides: &[8, 8] };
    assert_eq!(copy_elements(to, from, &[4, 0], 1), Ok(()));
    assert_eq!(copy_elements(to, from, &[4, 2], 0), Ok(()));
    assert_eq!(buffer.to_vec().expect("a copy"), b"0123");
}

#[test]
fn a_copy_is_one_call() {
    with_settings(&[], || {
        let [a, b] = [0, 1].map(|_| DeviceBuffer::allocate(&context(), 1 << 20).expect("room"));
        let functions = [c"cuLaunchKernel", c"cuMemcpyDtoD_v2", c"cuModuleLoadData"];
        let counts = || functions.map(|function| count_of(function).expect("a simulated driver"));
        let mut before = counts();
        let mut calls = |to: &[i64], (from, strides): (&DeviceBuffer, &[i64]), shape: &[usize]| {
            let to = Elements { buffer: &a, offset: 0, strides: to };
            let from = Elements { buffer: from, offset: 1024, strides };
            copy_elements(to, from, shape, 4).expect("a copy");
            let now = counts();
            let calls: Vec<_> = now.iter().zip(before).map(|(now, before)| now - before).collect();
            before = now;
            calls
        };
        // Contiguous in the same order, whichever it is.
        assert_eq!(calls(&[4, 160], (&b, &[4, 160]), &[40, 50]), [0, 1, 0]);
        // A module is loaded for the first of each kind.
        assert_eq!(calls(&[160, 4], (&b, &[8, 800]), &[50, 20]), [1, 0, 1]);
        assert_eq!(calls(&[160, 4, 2000], (&b, &[0, 8, 80]), &[5, 20, 40]), [1, 0, 0]);
        assert_eq!(calls(&[160, 4], (&b, &[4, 200]), &[50, 40]), [1, 0, 1]);
        // Within one buffer, by way of other memory.
        assert_eq!(calls(&[4], (&a, &[8]), &[400]), [1, 1, 0]);
        assert_eq!(calls(&[8], (&a, &[16]), &[400]), [2, 0, 0]);
        assert_eq!(calls(&[4], (&a, &[0]), &[400]), [1, 1, 0]);
    });
}

/// In a process of its own, so that nothing else gets the address meanwhile.
#[test]
fn a_view_of_freed_memory_fails_and_does_not_crash() {
    in_own_process(&[], || {
        let context = context();
        // A driver block of its own, which the driver frees at once.
        let memory = DeviceBuffer::allocate(&context, 4 << 20).expect("room");
        let (at, arrival) = (memory.private_address(), Arrival::complete());
        // SAFETY: the view is used only to show that the driver refuses it.
        let view = unsafe { DeviceBuffer::view(&context, at, 64, true, arrival, Box::new(())) }
            .expect("memory that is there");
        drop(memory);
        assert!(view.to_vec().is_err());
        assert!(view.copy_from_host(&[1]).is_err());
        let other = DeviceBuffer::allocate(&context, 64).expect("room");
        let freed = Elements { buffer: &view, offset: 0, strides: &[2] };
        let there = Elements { buffer: &other, offset: 0, strides: &[1] };
        assert!(copy_elements(freed, there, &[4], 1).is_err());
        assert!(copy_elements(there, freed, &[4], 1).is_err());
        context.synchronize().expect("still alive");
    });
}
