//! Files to devices and back, through the page cache and past it.

#[path = "../../transfer/tests/common/mod.rs"]
mod common;
#[path = "../../driver/tests/common/simulator.rs"]
mod simulator;

use arrow_cuda_buffer::{DeviceBuffer, Error};
use arrow_cuda_driver::is_simulated;
use arrow_cuda_host_io::HostFile;
use arrow_cuda_transfer::{ReadError, WriteError};
use common::{pattern, with_threads};
use rstest::rstest;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;

fn bytes_of(file: &File) -> Vec<u8> {
    let mut bytes = vec![0; file.metadata().expect("a file").len() as usize];
    file.read_exact_at(&mut bytes, 0).expect("all of it");
    bytes
}

/// A file on a disk, or in memory.
fn file_in(folder: &str) -> File {
    match folder {
        "" => tempfile::tempfile(),
        folder => tempfile::tempfile_in(folder),
    }
    .expect("a file")
}

#[rstest]
fn every_byte_arrives_in_the_file_and_back(
    #[values(0, 3)] threads: usize,
    #[values(false, true)] is_direct: bool,
    #[values((7, 1), (0, 1 << 20), (1, 4095), (5000, 2_345_678), (4096, 8192), (3, 9 << 20))]
    (offset, size): (u64, usize),
    #[values("", "/dev/shm")] folder: &str,
) {
    let (_alone, context) = with_threads(threads);
    let data = pattern(size + 3);
    let buffer = DeviceBuffer::allocate(&context, size + 3).expect("room");
    buffer.copy_from_host(&data).expect("a copy");

    let mut file = file_in(folder);
    file.write_all(&vec![0xEE; offset as usize + size + 100]).expect("room");
    let written = HostFile::to_write(file, is_direct);
    written.copy_from_device(offset, &buffer, 2, size).expect("a copy");
    let whole = bytes_of(written.as_file());
    let (head, rest) = whole.split_at(offset as usize);
    assert!(rest[..size] == data[2..2 + size]);
    assert!(head.iter().chain(&rest[size..]).all(|byte| *byte == 0xEE));

    buffer.fill(0xDD).expect("filled");
    let file = written.as_file().try_clone().expect("a descriptor");
    let read = HostFile::to_read(file, offset, size as u64, Some(is_direct));
    read.copy_to_device(offset, &buffer, 1, size).expect("a copy");
    let back = buffer.to_vec().expect("bytes");
    assert!(back[1..1 + size] == data[2..2 + size]);
    assert_eq!((back[0], &back[1 + size..]), (0xDD, &[0xDD; 2][..]));
}

#[rstest]
fn a_file_grows_where_it_has_to(#[values(false, true)] is_direct: bool) {
    let (_alone, context) = with_threads(0);
    let data = pattern(3_000_000);
    let buffer = DeviceBuffer::allocate(&context, data.len()).expect("room");
    buffer.copy_from_host(&data).expect("a copy");
    let file = HostFile::to_write(file_in(""), is_direct);
    file.copy_from_device(777, &buffer, 0, data.len()).expect("a copy");
    let whole = bytes_of(file.as_file());
    assert!(whole[..777].iter().all(|byte| *byte == 0) && whole[777..] == data);
}

#[rstest]
fn a_file_that_ends_too_early_says_where(
    #[values(0, 3)] threads: usize,
    #[values(false, true)] is_direct: bool,
    #[values(0, 1, 4096, 5_000_000, (9 << 20) - 1)] end: u64,
) {
    let (_alone, context) = with_threads(threads);
    let size = 9 << 20;
    let file = file_in("");
    file.set_len(end).expect("a size");
    let buffer = DeviceBuffer::allocate(&context, size).expect("room");
    let file = HostFile::to_read(file, 0, size as u64, Some(is_direct));
    let failed = file.copy_to_device(0, &buffer, 0, size);
    assert_eq!(failed, Err(Error::Read(ReadError { position: end, code: None })));
    file.as_file().set_len(size as u64).expect("a file can grow");
    file.copy_to_device(0, &buffer, 0, size).expect("later copies are not disturbed");
}

#[rstest]
fn what_is_refused_changes_nothing(#[values(false, true)] is_direct: bool) {
    let (_alone, context) = with_threads(0);
    let buffer = DeviceBuffer::allocate(&context, 20_000).expect("room");
    let mut file = file_in("");
    file.write_all(&[7; 30_000]).expect("room");
    let target = HostFile::to_write(file.try_clone().expect("a descriptor"), is_direct);
    for (position, size) in [(0, 20_001), (1, 20_000), (usize::MAX, 2), (0, usize::MAX)] {
        let failed = target.copy_from_device(0, &buffer, position, size);
        assert!(matches!(failed, Err(Error::OutOfBounds(_))), "{failed:?}");
    }
    assert!(bytes_of(&file) == [7; 30_000]);
    let source = HostFile::to_read(file, 0, 20_000, Some(is_direct));
    let failed = source.copy_to_device(0, &buffer.read_only(), 0, 20_000);
    assert_eq!(failed, Err(Error::ReadOnly));
}

#[test]
fn a_file_that_cannot_be_written_says_why() {
    let (_alone, context) = with_threads(0);
    let buffer = DeviceBuffer::allocate(&context, 20_000).expect("room");
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(&[7; 100]).expect("room");
    let read_only = HostFile::to_write(File::open(file.path()).expect("a file"), false);
    let failed = read_only.copy_from_device(5, &buffer, 0, 20_000);
    let code = Some(libc::EBADF);
    assert_eq!(failed, Err(Error::Write(WriteError { position: 5, code })));
    let full = Path::new("/dev/full");
    if full.exists() {
        let full = OpenOptions::new().write(true).open(full).expect("a device");
        let full = HostFile::to_write(full, true);
        let copy = || full.copy_from_device(0, &buffer, 0, 20_000);
        let code = Some(libc::ENOSPC);
        assert_eq!(copy(), Err(Error::Write(WriteError { position: 0, code })));
        if is_simulated().expect("a driver") {
            simulator::fault("cuStreamSynchronize:1=999");
            let failed = copy();
            simulator::fault("");
            assert!(matches!(failed, Err(Error::Cuda(_))), "its error is lost: {failed:?}");
        }
    }
    let far = HostFile::to_write(file_in(""), false);
    let failed = far.copy_from_device(u64::MAX, &buffer, 0, 20_000);
    let code = Some(libc::EOVERFLOW);
    assert_eq!(failed, Err(Error::Write(WriteError { position: u64::MAX, code })));
}
