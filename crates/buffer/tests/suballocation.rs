//! Buffers that are allocated and copied together.

#[path = "../../transfer/tests/common/mod.rs"]
mod common;
#[path = "common/padding.rs"]
mod padding;
#[path = "../../driver/tests/common/simulator.rs"]
mod simulator;

use arrow_cuda_buffer::{DeviceBuffer, Error, copy_to_host_scattered, join_into_new};
use arrow_cuda_context::Context;
use arrow_cuda_transfer::HostBuffer;
use common::with_threads;
use padding::with_padding;
use rstest::rstest;
use simulator::{calls_of, count_of, with_settings};
use std::mem::MaybeUninit;

fn context() -> Context {
    Context::primary(0).expect("a device")
}

fn parts_of(lengths: &[usize]) -> Vec<Vec<u8>> {
    let part =
        |(number, length)| (0..length).map(|at| (at * 31 + at / 251 + number) as u8).collect();
    lengths.iter().copied().enumerate().map(part).collect()
}

fn uploaded(parts: &[Vec<u8>]) -> Vec<DeviceBuffer> {
    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    DeviceBuffer::suballocated_from_host(&context(), &parts).expect("a copy")
}

/// The bytes of buffers, by one call.
fn downloaded(buffers: &[&DeviceBuffer]) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<MaybeUninit<u8>>> =
        buffers.iter().map(|buffer| vec![MaybeUninit::new(0xEE); buffer.len()]).collect();
    let parts = buffers.iter().copied().zip(all.iter_mut().map(Vec::as_mut_slice));
    copy_to_host_scattered(parts.collect()).expect("a copy");
    // SAFETY: they were initialised from the start.
    all.iter().map(|part| part.iter().map(|byte| unsafe { byte.assume_init() }).collect()).collect()
}

#[test]
fn each_begins_at_a_multiple_of_256_bytes_of_one_segment() {
    let sizes = [1, 0, 256, 257, 1000, 0, 8];
    let _alone = with_threads(0);
    let before = context().bytes_allocated().expect("alive");
    let buffers = DeviceBuffer::suballocate(&context(), &sizes).expect("room");
    assert_eq!(buffers.iter().map(DeviceBuffer::len).collect::<Vec<_>>(), sizes);
    let used: Vec<_> = buffers.iter().filter(|buffer| !buffer.is_empty()).collect();
    assert!(used.iter().all(|buffer| buffer.private_address() % 256 == 0 && buffer.is_mutable()));
    let first = used[0].private_address();
    let offsets: Vec<_> = used.iter().map(|buffer| buffer.private_address() - first).collect();
    assert_eq!(offsets, [0, 256, 512, 1024, 2048]);
    assert!(buffers.iter().filter(|buffer| buffer.is_empty()).all(|it| it.private_address() == 0));
    drop(used);
    drop(buffers);
    assert_eq!(context().bytes_allocated().expect("alive"), before);
}

#[rstest]
fn nothing_is_allocated_for_no_bytes(#[values(&[], &[0, 0])] sizes: &[usize]) {
    let _alone = with_threads(0);
    let before = context().bytes_allocated().expect("alive");
    let buffers = DeviceBuffer::suballocate(&context(), sizes).expect("nothing");
    assert_eq!(buffers.len(), sizes.len());
    assert_eq!(context().bytes_allocated().expect("alive"), before);
}

#[rstest]
fn sizes_that_no_device_has_are_refused(
    #[values(&[1 << 60], &[usize::MAX, usize::MAX], &[8, usize::MAX, 8], &[1 << 62, 1 << 62, 1 << 62])]
    sizes: &[usize],
) {
    let _alone = with_threads(0);
    let before = context().bytes_allocated().expect("alive");
    let failed = DeviceBuffer::suballocate(&context(), sizes).expect_err("no room");
    assert!(failed.is_out_of_memory(), "{failed}");
    assert_eq!(context().bytes_allocated().expect("alive"), before);
}

#[rstest]
fn parts_go_up_and_come_back(
    #[values(0, 3)] threads: usize,
    #[values(
        &[], &[0], &[5], &[0, 1, 7, 0, 64], &[50; 4000], &[100_000; 30],
        &[900_000, 3, 0, 300_000, 100_000, 1, 2_000_000, 700_001, 700_001]
    )]
    lengths: &[usize],
) {
    let _alone = with_threads(threads);
    let parts = parts_of(lengths);
    for _ in 0..5 {
        let buffers = uploaded(&parts);
        for (buffer, part) in buffers.iter().zip(&parts) {
            assert!(buffer.to_vec().expect("bytes") == *part);
        }
        assert!(downloaded(&buffers.iter().collect::<Vec<_>>()) == parts);
    }
}

/// Otherwise the padding would show what lay in staging memory, to whoever can read the allocation.
#[rstest]
fn padding_is_zero(#[values(0, 3)] threads: usize) {
    let _alone = with_threads(threads);
    let residue = uploaded(&[vec![0xEE; 4 << 20]]);
    assert!(residue[0].to_vec().expect("bytes").iter().all(|byte| *byte == 0xEE));
    drop(residue);
    let parts = vec![vec![1u8; 1000]; 4096];
    let buffers = uploaded(&parts);
    let bytes = with_padding(&buffers);
    for place in bytes.chunks(1024) {
        assert!(place[..1000].iter().all(|byte| *byte == 1));
        assert!(place[1000..].iter().all(|byte| *byte == 0), "padding");
    }
}

#[test]
fn gaps_are_cleared_and_nothing_else() {
    let _alone = with_threads(0);
    drop(uploaded(&[vec![0xEE; 1 << 20]]));
    let sizes = [1000, 0, 3, 512, 1000];
    let buffers = DeviceBuffer::suballocate(&context(), &sizes).expect("room");
    buffers.iter().for_each(|buffer| buffer.fill(1).expect("alive"));
    join_into_new(&context(), &buffers, &[], &[]).expect("alive");
    let bytes = with_padding(&buffers);
    let ones = bytes.iter().filter(|byte| **byte == 1).count();
    assert_eq!(ones, sizes.iter().sum::<usize>());
    assert!(bytes.iter().all(|byte| *byte <= 1), "a gap");
}

#[test]
fn large_pinned_parts_are_copied_directly() {
    const LARGE: usize = (4 << 20) - 10;
    let _alone = with_threads(3);
    // The residue of a buffer that took as much.
    drop(uploaded(&[vec![0xEE; (12 << 20) + 512 - 10]]));
    let mut pinned = [0, 1].map(|_| HostBuffer::allocate(&context(), LARGE).expect("room"));
    pinned.iter_mut().for_each(|pinned| pinned.as_mut_slice().fill(7));
    let parts =
        [&[1; 10][..], pinned[0].as_slice(), pinned[1].as_slice(), &[2; 10], pinned[0].as_slice()];
    let mut buffers = Vec::new();
    let up = calls_of(c"cuMemcpyHtoDAsync", || {
        buffers = DeviceBuffer::suballocated_from_host(&context(), &parts).expect("a copy");
    });
    assert!(up.is_none_or(|calls| calls == 5), "{up:?}");
    let all = with_padding(&buffers);
    let mut expected = vec![0; all.len()];
    for (buffer, part) in buffers.iter().zip(parts) {
        let at = (buffer.private_address() - buffers[0].private_address()) as usize;
        expected[at..at + part.len()].copy_from_slice(part);
    }
    assert!(all == expected, "and zeros between them");
}

#[test]
fn parts_of_any_order_and_distance_come_down() {
    let _alone = with_threads(0);
    let parts = parts_of(&[100, 3000, 0, 200, 90_000, 5]);
    let buffers = uploaded(&parts);
    let [a, b, c, d, _, f] = &buffers[..] else { panic!("as many as parts") };
    // Far from either end of its segment, whatever lies next to that.
    let elsewhere = uploaded(&[vec![0; 5 << 20], b"elsewhere".to_vec(), vec![0; 5 << 20]]);
    let mixed = [d, b, b, &b.slice_with_length(7, 100).expect("a slice"), &elsewhere[1], c, a, f];
    let of_slice = &parts[1][7..107];
    let [a_bytes, b_bytes, _, d_bytes, _, f_bytes] = [0, 1, 2, 3, 4, 5].map(|at| &parts[at][..]);
    let wanted = [d_bytes, b_bytes, b_bytes, of_slice, b"elsewhere", b"", a_bytes, f_bytes];
    let down = calls_of(c"cuMemcpyDtoH", || assert_eq!(downloaded(&mixed), wanted));
    assert!(down.is_none_or(|calls| calls == 7), "{down:?}");
    // The gap of 90,000 bytes is not read.
    let far = calls_of(c"cuMemcpyDtoH", || {
        assert_eq!(downloaded(&[d, f]), [d_bytes, f_bytes]);
    });
    assert!(far.is_none_or(|calls| calls == 2), "{far:?}");
    let copies = DeviceBuffer::suballocated_copies(&context(), &mixed).expect("a copy");
    assert_eq!(downloaded(&copies.iter().collect::<Vec<_>>()), wanted);
    // Nearer to each other than their copies.
    let near = [0, 20, 90].map(|at| b.slice_with_length(at, 15).expect("a slice"));
    let copies = DeviceBuffer::suballocated_copies(&context(), &near.each_ref()).expect("a copy");
    let wanted = [0, 20, 90].map(|at| &parts[1][at..at + 15]);
    assert_eq!(downloaded(&copies.iter().collect::<Vec<_>>()), wanted);
}

#[test]
fn a_part_is_not_longer_than_its_buffer() {
    let _alone = with_threads(0);
    let buffers = uploaded(&parts_of(&[4, 4]));
    let (mut fits, mut too_long) = ([MaybeUninit::new(9); 4], [MaybeUninit::new(9); 5]);
    let parts = vec![(&buffers[0], &mut too_long[..]), (&buffers[1], &mut fits[..])];
    assert!(matches!(copy_to_host_scattered(parts), Err(Error::OutOfBounds(_))));
    // SAFETY: initialised above.
    assert!(fits.iter().all(|byte| unsafe { byte.assume_init() } == 9), "nothing is copied");
}

#[test]
fn a_buffer_retains_little_more_than_itself() {
    let _alone = with_threads(0);
    let context = context();
    let before = context.bytes_allocated().expect("alive");
    let kept = |sizes: &[usize], number: usize| {
        let buffers = DeviceBuffer::suballocate(&context, sizes).expect("room");
        let _kept = buffers[number].clone();
        drop(buffers);
        context.bytes_allocated().expect("alive") - before
    };
    assert_eq!(kept(&[10 << 20; 20], 7), 10 << 20);
    assert!(kept(&[1000; 10_000], 5000) < 512 << 10);
    assert!(kept(&[100, 10 << 20, 100, 200_000, 10 << 20], 3) < 512 << 10);
}

/// One segment for all of it is too large.
const WITHOUT_A_SEGMENT: &[(&str, &str)] = &[("CUDA_SIM_FAULT", "cuMemAlloc:1=2")];

#[test]
fn memory_in_pieces_serves_too() {
    with_settings(WITHOUT_A_SEGMENT, || {
        let parts = parts_of(&[4 << 20; 8]);
        let buffers = uploaded(&parts);
        assert_eq!(count_of(c"cuMemAlloc"), Some(3), "one that failed, and two halves");
        assert!(downloaded(&buffers.iter().collect::<Vec<_>>()) == parts);
    });
}

#[test]
fn memory_in_pieces_serves_what_is_produced_too() {
    with_settings(WITHOUT_A_SEGMENT, || {
        let parts = parts_of(&[523_000; 8]);
        let produce = |_: &mut (), number: usize, at, out: &mut [u8]| {
            out.copy_from_slice(&parts[number][at..][..out.len()]);
            Ok::<_, Error>(())
        };
        let sizes = [(523_000, false); 8];
        let buffers =
            DeviceBuffer::suballocated_from_producer(&context(), &sizes, produce, |_, _| Ok(()))
                .expect("room");
        assert!(downloaded(&buffers.iter().collect::<Vec<_>>()) == parts);
    });
}

#[test]
fn padding_between_copies_is_zero() {
    let _alone = with_threads(0);
    let allocate = |size| DeviceBuffer::allocate_packed(&context(), size).expect("room");
    let old = allocate(1 << 20);
    old.fill(0xAB).expect("alive");
    drop(old);
    let sources: [_; 4] = std::array::from_fn(|_| allocate(300));
    sources.iter().for_each(|source| source.fill(1).expect("alive"));
    let backwards: Vec<_> = sources.iter().rev().collect();
    let copies = DeviceBuffer::suballocated_copies(&context(), &backwards).expect("a copy");
    let mut wanted = [[1; 300].as_slice(), &[0; 212]].concat().repeat(4);
    wanted.truncate(3 * 512 + 300);
    assert_eq!(with_padding(&copies), wanted);
}
