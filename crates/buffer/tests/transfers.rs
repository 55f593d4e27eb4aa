//! Copies through pinned memory, by several threads: the same bytes as the driver's own copies.

#[path = "../../transfer/tests/common/mod.rs"]
mod common;

use arrow_cuda_buffer::{DeviceBuffer, Error};
use arrow_cuda_transfer::HostBuffer;
use common::{pattern, with_threads};
use rstest::rstest;
use std::mem::MaybeUninit;
use std::thread;

#[rstest]
fn every_byte_arrives(
    #[values(1, 2, 5)] threads: usize,
    #[values((1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3_333_333, 9 << 20)] size: usize,
) {
    let (_alone, context) = with_threads(threads);
    let (data, room) = (pattern(size + 3), size + 200);
    let buffer = DeviceBuffer::allocate(&context, room).expect("room");
    buffer.fill(0xEE).expect("filled");
    // Neither end is aligned.
    let part = buffer.slice(101..101 + size).expect("within");
    part.copy_from_host(&data[3..]).expect("a copy");
    let whole = buffer.to_vec().expect("bytes");
    assert!(whole[..101].iter().chain(&whole[101 + size..]).all(|byte| *byte == 0xEE));
    assert!(whole[101..101 + size] == data[3..]);

    let mut out = vec![0x11; size + 10];
    part.copy_to_host(&mut out[7..7 + size]).expect("a copy");
    assert!(out[..7].iter().chain(&out[7 + size..]).all(|byte| *byte == 0x11));
    assert!(out[7..7 + size] == data[3..]);
    let mut fresh: Vec<u8> = Vec::with_capacity(size);
    let spare: &mut [MaybeUninit<u8>] = &mut fresh.spare_capacity_mut()[..size];
    part.copy_to_uninit(spare).expect("a copy");
    // SAFETY: the copy has initialised them.
    unsafe { fresh.set_len(size) };
    assert!(fresh == data[3..]);
}

#[test]
fn refused_copies_change_nothing() {
    let (_alone, context) = with_threads(2);
    let data = pattern(2 << 20);
    let buffer = DeviceBuffer::allocate(&context, 2 << 20).expect("room");
    buffer.fill(1).expect("filled");
    for wrong in [&data[1..], &[], &[data.as_slice(), &[0]].concat()] {
        assert!(matches!(buffer.copy_from_host(wrong), Err(Error::OutOfBounds(_))));
    }
    assert!(matches!(buffer.read_only().copy_from_host(&data), Err(Error::ReadOnly)));
    assert!(buffer.to_vec().expect("bytes").iter().all(|byte| *byte == 1));
    let mut out = vec![9; 2 << 20];
    assert!(matches!(buffer.copy_to_host(&mut out[1..]), Err(Error::OutOfBounds(_))));
    assert!(out.iter().all(|byte| *byte == 9));
}

#[test]
fn pinned_memory_is_copied_directly() {
    let (_alone, context) = with_threads(2);
    let mut pinned = HostBuffer::allocate(&context, 4 << 20).expect("room");
    pinned.as_mut_slice().copy_from_slice(&pattern(4 << 20));
    let buffer = DeviceBuffer::allocate(&context, 4 << 20).expect("room");
    buffer.copy_from_host(pinned.as_slice()).expect("a copy");
    pinned.as_mut_slice().fill(0);
    buffer.copy_to_host(pinned.as_mut_slice()).expect("a copy");
    assert!(pinned.as_slice() == pattern(4 << 20));
}

/// The driver makes smaller copies, and several threads may do so at once.
#[rstest]
fn small_copies_arrive(
    #[values(0, 2)] threads: usize,
    #[values(1, 4096, (256 << 10) - 1, 256 << 10)] size: usize,
) {
    let (_alone, context) = with_threads(threads);
    let context = &context;
    thread::scope(|scope| {
        for number in 0..3u8 {
            scope.spawn(move || {
                let buffer = DeviceBuffer::allocate(context, size + 2).expect("room");
                for round in 0..30 {
                    buffer.fill(0xEE).expect("filled");
                    let data: Vec<u8> = pattern(size).iter().map(|byte| byte ^ round).collect();
                    buffer.slice(1..=size).expect("within").copy_from_host(&data).expect("a copy");
                    let mut out = vec![number; size + 2];
                    buffer.copy_to_host(&mut out).expect("a copy");
                    assert!(out[1..=size] == data && out[0] == 0xEE && out[size + 1] == 0xEE);
                }
            });
        }
    });
}

#[rstest]
fn parts_arrive_one_behind_the_other(
    #[values(0, 3)] threads: usize,
    #[values(&[0, 1, 7, 0, 64], &[900_000, 3, 0, 300_000, 100_000, 1, 2_000_000], &[50; 4000])]
    lengths: &[usize],
) {
    let (_alone, context) = with_threads(threads);
    let parts: Vec<Vec<u8>> = lengths.iter().map(|length| pattern(*length)).collect();
    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    let whole = parts.concat();
    let buffer = DeviceBuffer::allocate(&context, whole.len() + 9).expect("room");
    for _ in 0..20 {
        buffer.fill(0xEE).expect("filled");
        buffer.copy_from_host_gathered(5, &parts).expect("a copy");
        let bytes = buffer.to_vec().expect("bytes");
        assert!(bytes[5..5 + whole.len()] == whole);
        assert!(bytes[..5] == [0xEE; 5] && bytes[5 + whole.len()..] == [0xEE; 4]);
    }
    assert!(matches!(buffer.copy_from_host_gathered(10, &parts), Err(Error::OutOfBounds(_))));
    let read_only = buffer.read_only();
    assert!(matches!(read_only.copy_from_host_gathered(0, &parts), Err(Error::ReadOnly)));
}

#[rstest]
fn host_bytes_are_compared(
    #[values(0, 3)] threads: usize,
    #[values(1, 1000, 3_333_333, 9 << 20)] size: usize,
) {
    let (_alone, context) = with_threads(threads);
    let mut data = pattern(size);
    let buffer = DeviceBuffer::allocate(&context, size).expect("room");
    buffer.copy_from_host(&data).expect("a copy");
    assert!(buffer.equals_host(&data).expect("an answer"));
    assert!(!buffer.equals_host(&data[1..]).expect("an answer"));
    for at in [0, size / 2, size - 1] {
        data[at] ^= 0x80;
        assert!(!buffer.equals_host(&data).expect("an answer"), "a difference at {at}");
        data[at] ^= 0x80;
    }
    assert!(buffer.equals_host(&data).expect("an answer"), "later ones are not disturbed");
}

/// Pieces of large copies end where huge pages end, so the first one may be short.
#[rstest]
fn copies_begin_anywhere_in_a_huge_page(
    #[values(1, 2)] threads: usize,
    #[values(0, 1, 8192, 35_000, 1 << 20, (2 << 20) - 1)] before_end: usize,
) {
    const HUGE_PAGE: usize = 2 << 20;
    let (_alone, context) = with_threads(threads);
    let size = 14 << 20;
    let mut host = vec![0u8; size + 2 * HUGE_PAGE];
    let start = host.as_ptr().align_offset(HUGE_PAGE) + HUGE_PAGE - before_end;
    host[start..start + size].copy_from_slice(&pattern(size));
    let buffer = DeviceBuffer::allocate(&context, size).expect("room");
    buffer.copy_from_host(&host[start..start + size]).expect("a copy");
    assert!(buffer.to_vec().expect("bytes") == pattern(size));
    assert!(buffer.equals_host(&host[start..start + size]).expect("an answer"));
    host.fill(0xEE);
    buffer.copy_to_host(&mut host[start..start + size]).expect("a copy");
    assert!(host[start..start + size] == pattern(size));
    assert!(host[..start].iter().chain(&host[start + size..]).all(|byte| *byte == 0xEE));
}
