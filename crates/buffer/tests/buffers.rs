//! Device buffers against the bytes that they should hold.

#![allow(clippy::disallowed_macros, reason = "sets up what the crate must not do itself")]

use arrow_cuda_buffer::{CopyOrder, DeviceBuffer, DeviceSlice, Error};
use arrow_cuda_context::{Arrival, Context, Stream};
use arrow_cuda_driver::call;
use proptest::prelude::*;
use rstest::rstest;

fn context() -> Context {
    Context::primary(0).expect("a device")
}

fn upload(bytes: &[u8]) -> DeviceBuffer {
    DeviceSlice::from_slice(&context(), bytes).expect("room").into_buffer()
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
        let source = buffer.slice_with_length(from, length)?;
        if is_queued {
            let stream = Stream::non_blocking(&context())?;
            drop(buffer.copy_from_device_in(CopyOrder::On(&stream), to, &source)?);
            drop(stream.synchronize()?);
        } else {
            buffer.slice_with_length(to, length)?.copy_from_device(&source)?;
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
fn foreign_memory_must_reach_far_enough(#[case] at: u64, #[case] size: usize) {
    let memory = upload(&pattern(10, 1000));
    let owner = Box::new(memory.clone());
    let address = memory.private_address() + at;
    let arrival = Arrival::complete();
    // SAFETY: the test keeps the memory, or shows that the driver refuses it.
    let view = unsafe { DeviceBuffer::view(&context(), address, size, true, arrival, owner) };
    assert!(matches!(view, Err(Error::Invalid(_))), "{view:?}");
}

/// A reserved range of addresses, within which two pieces of memory lie one after the other.
struct Mapped {
    context: Context,
    reserved: u64,
    granularity: usize,
}

impl Mapped {
    const PIECES: usize = 8;

    /// None where the device has no virtual memory management.
    fn new(context: &Context) -> Option<Self> {
        let _current = context.enter().expect("alive");
        let mut of = [1i32, 0, 1, 0, 0, 0, 0, 0]; // pinned memory of device 0
        let (mut granularity, mut reserved) = (0usize, 0u64);
        let mut access = [1i32, 0, 3]; // device 0 reads and writes
        // SAFETY: the driver reads the descriptions, and stores numbers; the range is this test's.
        unsafe {
            let place = (&raw mut granularity).cast();
            let of = (&raw mut of).cast();
            call!(cuMemGetAllocationGranularity(place, of, 0)).ok()?;
            let size = Self::PIECES * granularity;
            call!(cuMemAddressReserve((&raw mut reserved).cast(), size, 0, 0, 0)).expect("room");
            for piece in [2, 3] {
                let mut handle = 0u64;
                call!(cuMemCreate((&raw mut handle).cast(), granularity, of, 0)).expect("room");
                let at = reserved + (piece * granularity) as u64;
                call!(cuMemMap(at, granularity, 0, handle, 0)).expect("nothing is there");
                call!(cuMemSetAccess(at, granularity, (&raw mut access).cast(), 1)).expect("alive");
                call!(cuMemRelease(handle)).expect("mapped");
            }
        }
        Some(Self { context: context.clone(), reserved, granularity })
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        let _current = self.context.enter().expect("alive");
        let at = self.reserved + 2 * self.granularity as u64;
        // SAFETY: made above, and not used any more.
        unsafe {
            call!(cuMemUnmap(at, 2 * self.granularity)).expect("mapped");
            call!(cuMemAddressFree(self.reserved, Self::PIECES * self.granularity)).expect("free");
        }
    }
}

#[test]
fn what_is_empty_may_be_at_an_address_of_no_memory() {
    let arrival = Arrival::complete();
    // SAFETY: there is no memory.
    let view = unsafe { DeviceBuffer::view(&context(), 0x40, 0, true, arrival, Box::new(())) };
    let view = view.expect("nothing to find");
    assert_eq!((view.private_address(), view.to_vec()), (0, Ok(Vec::new())));
}

/// Of such memory, the driver's attributes tell the whole range that was reserved.
#[test]
fn mapped_memory_ends_with_its_pieces() {
    let Some(mapped) = Mapped::new(&context()) else { return };
    let piece = mapped.granularity;
    let start = mapped.reserved + 2 * piece as u64;
    // SAFETY: the test keeps the memory, or shows that it is refused.
    let view = |at, size| unsafe {
        DeviceBuffer::view(&context(), at, size, true, Arrival::complete(), Box::new(()))
    };
    let second = start + piece as u64;
    for (at, size) in [(start, 1), (start, 2 * piece), (second - 1, 2)] {
        view(at, size).expect("all of it is mapped").fill(1).expect("alive");
    }
    for (at, size) in [(start, 2 * piece + 1), (second, 2 * piece), (start + 1, 2 * piece)] {
        let refused = view(at, size);
        assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    }
    assert!(view(start - 1, 2).is_err() && view(second + piece as u64, 1).is_err());
}
