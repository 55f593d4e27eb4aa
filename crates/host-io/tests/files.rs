//! Readers and writers against a model in host memory.

use arrow_cuda_buffer::{DeviceBuffer, Error as BufferError};
use arrow_cuda_context::Context;
use arrow_cuda_host_io::{BufferReader, BufferWriter, Error, HostBuffer, HostFile};
use arrow_cuda_transfer::ReadError;
use proptest::prelude::*;
use std::io::Write;
use std::mem::MaybeUninit;

fn context() -> Context {
    Context::primary(0).expect("a device")
}

/// A buffer of zeros between guard bytes.
fn guarded(size: usize) -> (DeviceBuffer, DeviceBuffer) {
    let whole = DeviceBuffer::allocate(&context(), size as u64 + 128).expect("room");
    whole.fill(0xA5).expect("a fill");
    let inner = whole.slice(64, size as u64).expect("within");
    inner.fill(0).expect("a fill");
    (whole, inner)
}

fn assert_guards(whole: &DeviceBuffer) {
    let bytes = whole.to_vec().expect("a copy");
    let guards = bytes[..64].iter().chain(&bytes[bytes.len() - 64..]);
    assert!(guards.clone().all(|byte| *byte == 0xA5), "written outside the buffer");
}

#[derive(Clone, Debug)]
enum Step {
    Write(Vec<u8>),
    WriteDevice(Vec<u8>),
    WriteAt(u64, Vec<u8>),
    Seek(u64),
    Flush,
    BufferSize(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let data = || proptest::collection::vec(any::<u8>(), 0..60);
    prop_oneof![
        4 => data().prop_map(Step::Write),
        1 => data().prop_map(Step::WriteDevice),
        2 => (0..130u64, data()).prop_map(|(at, data)| Step::WriteAt(at, data)),
        1 => (0..130u64).prop_map(Step::Seek),
        1 => Just(Step::Flush),
        1 => (0..80usize).prop_map(Step::BufferSize),
    ]
}

/// A model of the file: positions and bytes in host memory, no buffering.
struct Model {
    bytes: Vec<u8>,
    position: usize,
}

impl Model {
    fn seek(&mut self, position: u64) -> bool {
        let inside = (position as usize) < self.bytes.len();
        if inside {
            self.position = position as usize;
        }
        inside
    }

    fn write(&mut self, data: &[u8]) -> bool {
        let end = self.position + data.len();
        let fits = end <= self.bytes.len();
        if fits {
            self.bytes[self.position..end].copy_from_slice(data);
            self.position = end;
        }
        fits
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_writer_does_what_the_model_does(
        size in 1..120usize, steps in proptest::collection::vec(step(), 0..30),
    ) {
        let (whole, inner) = guarded(size);
        let writer = BufferWriter::open(inner.clone())?;
        let mut model = Model { bytes: vec![0; size], position: 0 };
        for step in steps {
            let (done, expected) = match &step {
                Step::Write(data) => (writer.write(data), model.write(data)),
                Step::WriteDevice(data) => {
                    let source = DeviceBuffer::allocate(&context(), data.len() as u64)?;
                    source.copy_from_host(0, data)?;
                    (writer.write_device(&source), model.write(data))
                }
                Step::WriteAt(at, data) => {
                    (writer.write_at(*at, data), model.seek(*at) && model.write(data))
                }
                Step::Seek(at) => (writer.seek(*at), model.seek(*at)),
                Step::Flush => (writer.flush(), true),
                Step::BufferSize(size) => (writer.set_buffer_size(*size), true),
            };
            prop_assert_eq!(done.is_ok(), expected, "{:?}", step);
            prop_assert_eq!(writer.tell()?, model.position as u64);
            prop_assert!(writer.bytes_buffered() <= writer.buffer_size());
        }
        writer.close()?;
        prop_assert_eq!(inner.to_vec()?, model.bytes);
        assert_guards(&whole);
    }

    #[test]
    fn a_reader_reads_the_bytes(
        size in 0..200usize, at in 0..250u64, length in 0..250usize,
    ) {
        let bytes: Vec<u8> = (0..size).map(|at| at as u8).collect();
        let buffer = DeviceBuffer::allocate(&context(), size as u64)?;
        buffer.copy_from_host(0, &bytes)?;
        let reader = BufferReader::open(buffer);
        let inside = at <= size as u64;
        prop_assert_eq!(reader.seek(at).is_ok(), inside);
        let start = if inside { at as usize } else { 0 };
        let expected = &bytes[start..(start + length).min(size)];
        let mut out = vec![MaybeUninit::new(0xFF); length];
        prop_assert_eq!(reader.read_buffer_at(start as u64, length as u64)?.to_vec()?, expected);
        prop_assert_eq!(reader.read(&mut out)?, expected.len());
        prop_assert_eq!(reader.tell()?, (start + expected.len()) as u64);
        // SAFETY: all of it was initialised above.
        let out: Vec<u8> = out.iter().map(|byte| unsafe { byte.assume_init() }).collect();
        prop_assert_eq!(&out[..expected.len()], expected);
        prop_assert!(out[expected.len()..].iter().all(|byte| *byte == 0xFF));
    }
}

#[test]
fn dropping_a_writer_flushes() {
    let (whole, inner) = guarded(100);
    let writer = BufferWriter::open(inner.clone()).expect("mutable");
    writer.set_buffer_size(64).expect("host memory");
    writer.write(b"buffered").expect("room");
    assert_eq!(writer.bytes_buffered(), 8);
    assert_eq!(inner.to_vec().expect("a copy")[..8], [0; 8], "not yet");
    drop(writer);
    assert_eq!(inner.to_vec().expect("a copy")[..8], *b"buffered");
    assert_guards(&whole);
}

#[test]
fn a_file_is_written_behind_buffered_bytes() {
    let (whole, inner) = guarded(20);
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(b"0123456789").expect("room");
    let writer = BufferWriter::open(inner.clone()).expect("mutable");
    writer.set_buffer_size(64).expect("host memory");
    writer.write(b"ab").expect("room");
    let file = HostFile::to_read(file, 0, 10, None);
    writer.write_file(&file, 3, 5).expect("room");
    assert_eq!((writer.tell(), writer.bytes_buffered()), (Ok(7), 0));
    assert_eq!(inner.to_vec().expect("a copy")[..8], *b"ab34567\0");
    let full = Error::Full { size: 14, position: 7, limit: 20 };
    assert_eq!(writer.write_file(&file, 0, 14), Err(full));
    let short = BufferError::Read(ReadError { position: 10, code: None });
    assert_eq!(writer.write_file(&file, 4, 7), Err(Error::Buffer(short)));
    assert_eq!(writer.tell(), Ok(7), "the position is unchanged");
    writer.close().expect("nothing buffered");
    assert_eq!(writer.write_file(&file, 0, 1), Err(Error::Closed));
    assert_guards(&whole);
}

#[test]
fn closed_files_refuse() {
    let (_, inner) = guarded(10);
    let writer = BufferWriter::open(inner.clone()).expect("mutable");
    writer.close().expect("nothing to flush");
    writer.close().expect("closed already");
    assert!(writer.is_closed());
    assert_eq!(writer.write(b"x"), Err(Error::Closed));
    assert_eq!(writer.tell(), Err(Error::Closed));
    assert_eq!(writer.set_buffer_size(5), Err(Error::Closed));
    let reader = BufferReader::open(inner);
    reader.close();
    assert_eq!(reader.seek(0), Err(Error::Closed));
    assert_eq!(reader.read(&mut []), Err(Error::Closed));
    assert!(matches!(reader.read_buffer(1), Err(Error::Closed)));
}

#[test]
fn an_immutable_buffer_is_not_opened_for_writing() {
    let (_, inner) = guarded(10);
    assert!(BufferWriter::open(inner.read_only()).is_err());
}

#[test]
fn pinned_memory_holds_what_is_written() {
    let mut pinned = HostBuffer::allocate(&context(), 1000).expect("memory to pin");
    assert_eq!(pinned.as_slice().len(), 1000);
    pinned.as_mut_slice()[999] = 7;
    let buffer = DeviceBuffer::allocate(&context(), 1000).expect("room");
    buffer.copy_from_host(0, pinned.as_slice()).expect("a copy");
    assert_eq!(buffer.to_vec().expect("a copy")[999], 7);
    let none = HostBuffer::allocate(&context(), 0).expect("nothing to pin");
    assert!(none.as_slice().is_empty());
}
