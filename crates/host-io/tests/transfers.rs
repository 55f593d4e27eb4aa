//! Copies through pinned memory, by several threads: the same bytes as the driver's own copies.

use arrow_cuda_buffer::{DeviceBuffer, Error};
use arrow_cuda_context::Context;
use arrow_cuda_host_io::{
    HostBuffer, TransferLimits, download, download_to_uninit, set_transfer_limits, upload,
};
use rstest::rstest;
use std::mem::MaybeUninit;
use std::sync::Mutex;
use std::thread;

/// The limits are the process's.
static LIMITS: Mutex<()> = Mutex::new(());

fn with_limits<T>(limits: TransferLimits, test: impl FnOnce() -> T) -> T {
    let _alone = LIMITS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    set_transfer_limits(limits);
    let outcome = test();
    set_transfer_limits(TransferLimits::with_threads(0));
    outcome
}

fn context() -> Context {
    Context::primary(0).expect("a device")
}

fn pattern(size: usize) -> Vec<u8> {
    (0..size).map(|at| (at * 31 + at / 251) as u8).collect()
}

#[rstest]
fn every_byte_arrives(
    #[values(1, 2, 5)] threads: usize,
    #[values((1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3_333_333, 9 << 20)] size: usize,
) {
    with_limits(TransferLimits::with_threads(threads), || {
        let (data, room) = (pattern(size + 3), size as u64 + 200);
        let buffer = DeviceBuffer::allocate(&context(), room).expect("room");
        buffer.fill(0xEE).expect("filled");
        // Neither end is aligned to anything.
        upload(&buffer, 101, &data[3..]).expect("a copy");
        let whole = buffer.to_vec().expect("bytes");
        assert!(whole[..101].iter().chain(&whole[101 + size..]).all(|byte| *byte == 0xEE));
        assert!(whole[101..101 + size] == data[3..]);

        let mut out = vec![0x11; size + 10];
        download(&buffer, 101, &mut out[7..7 + size]).expect("a copy");
        assert!(out[..7].iter().chain(&out[7 + size..]).all(|byte| *byte == 0x11));
        assert!(out[7..7 + size] == data[3..]);
        let mut fresh: Vec<u8> = Vec::with_capacity(size);
        let spare: &mut [MaybeUninit<u8>] = &mut fresh.spare_capacity_mut()[..size];
        download_to_uninit(&buffer, 101, spare).expect("a copy");
        // SAFETY: the copy has initialised them.
        unsafe { fresh.set_len(size) };
        assert!(fresh == data[3..]);
    });
}

#[test]
fn what_is_refused_changes_nothing() {
    with_limits(TransferLimits::with_threads(2), || {
        let data = pattern(2 << 20);
        let buffer = DeviceBuffer::allocate(&context(), 2 << 20).expect("room");
        buffer.fill(1).expect("filled");
        assert!(matches!(upload(&buffer, 1, &data), Err(Error::OutOfBounds(_))));
        assert!(matches!(upload(&buffer, u64::MAX, &data), Err(Error::OutOfBounds(_))));
        assert!(matches!(upload(&buffer.read_only(), 0, &data), Err(Error::ReadOnly)));
        assert!(buffer.to_vec().expect("bytes").iter().all(|byte| *byte == 1));
        let mut out = vec![9; 2 << 20];
        assert!(matches!(download(&buffer, 1, &mut out), Err(Error::OutOfBounds(_))));
        assert!(out.iter().all(|byte| *byte == 9));
    });
}

#[test]
fn pinned_memory_goes_straight() {
    with_limits(TransferLimits::with_threads(2), || {
        let mut pinned = HostBuffer::allocate(&context(), 4 << 20).expect("room");
        pinned.as_mut_slice().copy_from_slice(&pattern(4 << 20));
        let buffer = DeviceBuffer::allocate(&context(), 4 << 20).expect("room");
        upload(&buffer, 0, pinned.as_slice()).expect("a copy");
        pinned.as_mut_slice().fill(0);
        download(&buffer, 0, pinned.as_mut_slice()).expect("a copy");
        assert!(pinned.as_slice() == pattern(4 << 20));
    });
}

#[test]
fn many_threads_copy_at_once() {
    with_limits(TransferLimits::with_threads(3), || {
        thread::scope(|scope| {
            for number in 0..8u8 {
                scope.spawn(move || {
                    let data = vec![number; (1 << 20) + usize::from(number)];
                    let size = data.len() as u64;
                    let buffer = DeviceBuffer::allocate(&context(), size).expect("room");
                    for _ in 0..5 {
                        upload(&buffer, 0, &data).expect("a copy");
                        let mut out = vec![0; data.len()];
                        download(&buffer, 0, &mut out).expect("a copy");
                        assert!(out == data);
                    }
                });
            }
        });
    });
}

#[test]
fn limits_may_change_between_copies() {
    for threads in [4, 1, 0, 2] {
        let small = TransferLimits { threads, pinned_bytes: threads * (300 << 10) };
        for limits in [TransferLimits::with_threads(threads), small] {
            with_limits(limits, || {
                let data = pattern(5 << 20);
                let buffer = DeviceBuffer::allocate(&context(), 5 << 20).expect("room");
                upload(&buffer, 0, &data).expect("a copy");
                assert!(buffer.to_vec().expect("bytes") == data, "{limits:?}");
            });
        }
    }
}
