//! Files to device buffers, when something fails, and on a slow device.  `host_file.rs` of
//! arrow-cuda-host-io shows that every byte arrives.

#[path = "../../transfer/tests/common/mod.rs"]
mod common;
#[path = "../../driver/tests/common/simulator.rs"]
mod simulator;

use arrow_cuda_buffer::{DeviceBuffer, Error};
use arrow_cuda_context::Context;
use arrow_cuda_transfer::ReadError;
use common::{pattern, with_threads};
use rstest::rstest;
use simulator::{count_of, with_settings};
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::ops::Range;

fn file_of(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(bytes).expect("room");
    file
}

/// Bytes, a file of them, and a buffer for them.
fn data_to_read(context: &Context, size: usize) -> (Vec<u8>, File, DeviceBuffer) {
    let data = pattern(size);
    let file = file_of(&data);
    (data, file, DeviceBuffer::allocate(context, size).expect("room"))
}

#[rstest]
fn what_cannot_be_read_is_an_error(#[values(0, 3)] threads: usize) {
    let (_alone, context) = with_threads(threads);
    let buffer = DeviceBuffer::allocate(&context, 2 << 20).expect("room");
    let folder = File::open(std::env::temp_dir()).expect("a folder");
    let failed = buffer.copy_from_file(0, &folder, 0, 2 << 20);
    // Any piece may be the first that fails.
    let is_folder = |error: &ReadError| error.code == Some(libc::EISDIR);
    assert!(matches!(&failed, Err(Error::Read(error)) if is_folder(error)), "{failed:?}");
    let (receiver, _sender) = std::io::pipe().expect("a pipe");
    let failed = buffer.copy_from_file(0, &receiver, 0, 100);
    let code = Some(libc::ESPIPE);
    assert_eq!(failed, Err(Error::Read(ReadError { position: 0, code })));
    let file = file_of(b"data");
    let failed = buffer.copy_from_file(0, &file, u64::MAX, 4);
    assert!(matches!(failed, Err(Error::Read(ReadError { position: u64::MAX, .. }))));
}

#[rstest]
fn refused_copies_change_nothing(#[values(0, 3)] threads: usize) {
    let (_alone, context) = with_threads(threads);
    let size = 2 << 20;
    let (_, file, buffer) = data_to_read(&context, size);
    buffer.fill(1).expect("filled");
    let failed = buffer.copy_from_file(1, &file, 0, size);
    assert!(matches!(failed, Err(Error::OutOfBounds(_))));
    let failed = buffer.copy_from_file(0, &file, 0, usize::MAX);
    assert!(matches!(failed, Err(Error::OutOfBounds(_))));
    let failed = buffer.read_only().copy_from_file(0, &file, 0, size);
    assert_eq!(failed, Err(Error::ReadOnly));
    buffer.copy_from_file(5, &file, 9, 0).expect("nothing to copy");
    assert!(buffer.to_vec().expect("bytes").iter().all(|byte| *byte == 1));
}

#[rstest]
fn ranges_go_to_their_own_places(#[values(0, 3)] threads: usize) {
    let (_alone, context) = with_threads(threads);
    let (data, file, buffer) = data_to_read(&context, 20_000_000);
    // Small and large ranges, empty ones, near each other and far away.
    let starts = [3, 40, 41, 100_000, 900_000, 5_000_000, 9_500_000, 19_999_990];
    let sizes = [5, 0, 59_000, 800_000, 4_000_000, 100, 2_500_000, 10];
    let ranges: Vec<_> = starts.into_iter().zip(sizes).map(|(at, size)| at..at + size).collect();
    buffer.fill(1).expect("filled");
    buffer.copy_ranges_from_file(&file, &ranges).expect("a copy");
    let copied = buffer.to_vec().expect("bytes");
    let mut end = 0;
    for range in ranges {
        let range = range.start as usize..range.end as usize;
        assert!(copied[end..range.start].iter().all(|byte| *byte <= 1));
        assert!(copied[range.clone()] == data[range.clone()]);
        end = range.end;
    }
    // A far range shares no copy with the one before.
    assert!(copied[5_000_100..9_500_000].iter().all(|byte| *byte == 1));
}

#[test]
fn ranges_that_cannot_be_copied_change_nothing() {
    let (_alone, context) = with_threads(0);
    let (_, file, buffer) = data_to_read(&context, 100);
    buffer.fill(1).expect("filled");
    let first = Range { start: 0, end: 5 };
    let backwards = Range { start: 5, end: 3 };
    for ranges in [vec![backwards], vec![10..20, 19..30], vec![10..20, first.clone()]] {
        let failed = buffer.copy_ranges_from_file(&file, &ranges);
        assert!(matches!(failed, Err(Error::Invalid(_))), "{failed:?}");
    }
    let failed = buffer.copy_ranges_from_file(&file, &[first.clone(), 90..101]);
    assert!(matches!(failed, Err(Error::OutOfBounds(_))));
    let failed = buffer.read_only().copy_ranges_from_file(&file, &[first]);
    assert_eq!(failed, Err(Error::ReadOnly));
    buffer.copy_ranges_from_file(&file, &[]).expect("nothing to copy");
    assert!(buffer.to_vec().expect("bytes").iter().all(|byte| *byte == 1));
}

#[test]
fn a_move_that_fails_in_the_middle_is_an_error() {
    with_settings(&[("CUDA_SIM_FAULT", "cuMemcpyHtoDAsync:3=700")], || {
        let (_alone, context) = with_threads(3);
        let (data, file, buffer) = data_to_read(&context, 20 << 20);
        let failed = buffer.copy_from_file(0, &file, 0, data.len());
        assert!(matches!(failed, Err(Error::Cuda(_))), "{failed:?}");
        buffer.copy_from_file(0, &file, 0, data.len()).expect("the fault is over");
        assert!(buffer.to_vec().expect("bytes") == data);
    });
}

#[test]
fn no_pinned_memory_is_needed() {
    with_settings(&[("CUDA_SIM_FAULT", "cuMemHostRegister:1+=2")], || {
        let (_alone, context) = with_threads(3);
        let (data, file, buffer) = data_to_read(&context, 5_000_000);
        buffer.copy_from_file(0, &file, 0, data.len()).expect("by one thread");
        assert!(count_of(c"cuMemHostRegister") > Some(0));
        assert!(buffer.to_vec().expect("bytes") == data);
    });
}

#[test]
fn bytes_that_travel_are_left_alone() {
    with_settings(&[("CUDA_SIM_LATENCY", "2000")], || {
        for threads in [0, 3] {
            let (_alone, context) = with_threads(threads);
            let (data, mut file, buffer) = data_to_read(&context, 9_000_000);
            file.seek(SeekFrom::Start(7)).expect("a file can seek");
            buffer.copy_from_file(0, &file, 0, data.len()).expect("a copy");
            assert!(buffer.to_vec().expect("bytes") == data);
            assert_eq!(file.stream_position().expect("a position"), 7);
        }
    });
}
