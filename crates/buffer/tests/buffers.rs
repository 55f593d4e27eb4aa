//! Device buffers against the bytes that they should hold.

use arrow_cuda_buffer::{CopyOrder, DeviceBuffer, Error};
use arrow_cuda_context::{Arrival, Context, Stream};
use proptest::prelude::*;
use rstest::rstest;

fn context() -> Context {
    Context::primary(0).expect("a device")
}

fn upload(bytes: &[u8]) -> DeviceBuffer {
    let buffer = DeviceBuffer::allocate(&context(), bytes.len() as u64).expect("room");
    buffer.copy_from_host(0, bytes).expect("a copy");
    buffer
}

/// Bytes that differ from their neighbours, and from those of another seed.
fn pattern(seed: u64, size: usize) -> Vec<u8> {
    (0..size as u64).map(|at| ((at + seed).wrapping_mul(0x9E37_79B9) >> 13) as u8).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn overlapping_copies_move_the_bytes(
        size in 1..3000usize, from in 0..3000usize, to in 0..3000usize, length in 0..3000usize,
        is_queued: bool,
    ) {
        let (from, to) = (from % size, to % size);
        let length = length.min(size - from.max(to));
        let mut model = pattern(3, size);
        let buffer = upload(&model);
        let source = buffer.slice(from as u64, length as u64)?;
        if is_queued {
            let stream = Stream::non_blocking(&context())?;
            drop(buffer.copy_from_device_in(CopyOrder::On(&stream), to as u64, &source)?);
            drop(stream.synchronize()?);
        } else {
            buffer.copy_from_device(to as u64, &source)?;
        }
        model.copy_within(from..from + length, to);
        prop_assert_eq!(buffer.to_vec()?, model);
    }
}

#[rstest]
#[case::one_byte_more(0, 1001)]
#[case::from_inside(1, 1000)]
#[case::behind(1000, 1)]
#[case::in_the_slack(1010, 8)]
fn foreign_memory_must_reach_far_enough(#[case] at: u64, #[case] size: u64) {
    let memory = upload(&pattern(10, 1000));
    let owner = Box::new(memory.clone());
    let address = memory.private_address() + at;
    let arrival = Arrival::complete();
    // SAFETY: the test keeps the memory, or shows that the driver refuses it.
    let view = unsafe { DeviceBuffer::view(&context(), address, size, true, arrival, owner) };
    assert!(matches!(view, Err(Error::Invalid(_))), "{view:?}");
}
