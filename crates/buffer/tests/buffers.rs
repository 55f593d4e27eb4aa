//! Device buffers against the bytes that they should hold.

use arrow_cuda_buffer::{CopyOrder, DeviceBuffer, Error};
use arrow_cuda_context::{Context, Device, Stream};
use proptest::prelude::*;
use rstest::rstest;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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

    #[test]
    fn ranges_outside_are_refused_and_untouched(
        size in 0..1000u64, at in any::<u64>(), length in 0..2000usize,
    ) {
        let buffer = upload(&pattern(4, size as usize));
        let before = buffer.to_vec()?;
        let fits = at.checked_add(length as u64).is_some_and(|end| end <= size);
        let mut out = vec![7; length];
        prop_assert_eq!(buffer.copy_to_host(at, &mut out).is_ok(), fits);
        prop_assert_eq!(buffer.slice(at, length as u64).is_ok(), fits);
        if !fits {
            prop_assert!(out.iter().all(|byte| *byte == 7));
            prop_assert!(buffer.copy_from_host(at, &out).is_err());
            prop_assert_eq!(buffer.to_vec()?, before);
        }
    }
}

#[test]
fn buffers_of_different_sizes_differ() {
    let a = upload(&pattern(6, 100));
    assert!(!a.equals(&a.slice(0, 99).expect("within")).expect("a comparison"));
    assert!(!a.equals_host(&[]).expect("a comparison"));
    let empty = DeviceBuffer::allocate(&context(), 0).expect("nothing to allocate");
    assert!(empty.equals(&a.slice(50, 0).expect("within")).expect("a comparison"));
    assert_eq!(empty.address(), 0);
}

#[test]
fn a_read_only_buffer_is_not_written() {
    let buffer = upload(&[1, 2, 3, 4]).read_only();
    assert_eq!(buffer.copy_from_host(0, &[9]), Err(Error::ReadOnly));
    assert_eq!(buffer.fill(9), Err(Error::ReadOnly));
    assert_eq!(buffer.copy_from_device(0, &upload(&[9])), Err(Error::ReadOnly));
    let part = buffer.slice(1, 2).expect("within");
    assert!(!part.is_mutable());
    assert_eq!(buffer.to_vec().expect("a copy"), [1, 2, 3, 4]);
}

/// An owner that records when it is dropped.
struct Flag(Arc<AtomicBool>);

impl Drop for Flag {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

#[test]
fn the_last_view_drops_the_owner_of_foreign_memory() {
    let memory = upload(&pattern(9, 64));
    let dropped = Arc::new(AtomicBool::new(false));
    let owner = Box::new((memory.clone(), Flag(dropped.clone())));
    // SAFETY: the test keeps the memory, or shows that the driver refuses it.
    let view = unsafe { DeviceBuffer::view(&context(), memory.address(), 64, true, owner) }
        .expect("valid");
    let slice = view.slice(8, 8).expect("within");
    drop(view);
    assert!(!dropped.load(Ordering::Acquire));
    assert_eq!(slice.to_vec().expect("a copy"), pattern(9, 64)[8..16]);
    drop(slice);
    assert!(dropped.load(Ordering::Acquire));
}

#[rstest]
#[case::one_byte_more(0, 1001)]
#[case::from_inside(1, 1000)]
#[case::behind(1000, 1)]
#[case::in_the_slack(1010, 8)]
fn foreign_memory_must_reach_far_enough(#[case] at: u64, #[case] size: u64) {
    let memory = upload(&pattern(10, 1000));
    let owner = Box::new(memory.clone());
    // SAFETY: the test keeps the memory, or shows that the driver refuses it.
    let view = unsafe { DeviceBuffer::view(&context(), memory.address() + at, size, true, owner) };
    assert!(matches!(view, Err(Error::Invalid(_))), "{view:?}");
}

#[test]
fn the_driver_refuses_unknown_addresses() {
    let pageable = [0u8; 64];
    for address in [pageable.as_ptr() as u64, 0x7000] {
        // SAFETY: the test keeps the memory, or shows that the driver refuses it.
        let view = unsafe { DeviceBuffer::view(&context(), address, 8, true, Box::new(())) };
        let Err(Error::Cuda(error)) = view else { panic!("{view:?}") };
        assert_eq!(error.code(), Some(1));
    }
}

#[test]
fn devices_exchange_bytes() {
    if Device::count().expect("a driver") < 2 {
        eprintln!("one device only: nothing to exchange");
        return;
    }
    let second = Context::primary(1).expect("a second device");
    let bytes = pattern(11, 100_000);
    let here = upload(&bytes);
    let there = DeviceBuffer::allocate(&second, 100_000).expect("room");
    there.copy_from_device(0, &here).expect("a peer copy");
    assert_eq!(there.to_vec().expect("a copy"), bytes);
    assert!(here.equals(&there).expect("a comparison"));
    there.copy_from_host(99_999, &[bytes[99_999] ^ 1]).expect("a copy");
    assert!(!there.equals(&here).expect("a comparison"));
    // Without peer access, the driver does not know the other device's addresses at all.
    // SAFETY: the test keeps the memory, or shows that the driver refuses it.
    let wrong = unsafe {
        DeviceBuffer::view(&context(), there.address(), 8, true, Box::new(there.clone()))
    };
    assert!(wrong.is_err(), "{wrong:?}");
}
