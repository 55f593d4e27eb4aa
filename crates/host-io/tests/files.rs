//! Files that are written to buffers, and a buffer that cannot be written to.

use arrow_cuda_buffer::{DeviceBuffer, Error as BufferError};
use arrow_cuda_context::Context;
use arrow_cuda_host_io::{BufferWriter, Error, HostFile};
use arrow_cuda_transfer::ReadError;
use std::io::Write;

/// A buffer of zeros between guard bytes.
fn guarded(size: usize) -> (DeviceBuffer, DeviceBuffer) {
    let context = Context::primary(0).expect("a device");
    let whole = DeviceBuffer::allocate(&context, size + 128).expect("room");
    whole.fill(0xA5).expect("a fill");
    let inner = whole.slice_with_length(64, size).expect("within");
    inner.fill(0).expect("a fill");
    (whole, inner)
}

#[test]
fn a_file_is_written_behind_buffered_bytes() {
    let (whole, inner) = guarded(20);
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(b"0123456789").expect("room");
    let writer = BufferWriter::new(inner.clone()).expect("mutable");
    writer.set_buffer_size(64).expect("host memory");
    writer.write_bytes(b"ab").expect("room");
    let file = HostFile::to_read(file, 0, 10, None);
    writer.write_file(&file, 3, 5).expect("room");
    assert_eq!((writer.position(), writer.bytes_buffered()), (Ok(7), 0));
    assert_eq!(inner.to_vec().expect("a copy")[..8], *b"ab34567\0");
    let full = Error::Full { size: 14, position: 7, limit: 20 };
    assert_eq!(writer.write_file(&file, 0, 14), Err(full));
    let short = BufferError::Read(ReadError { position: 10, code: None });
    assert_eq!(writer.write_file(&file, 4, 7), Err(Error::Buffer(short)));
    assert_eq!(writer.position(), Ok(7), "the position is unchanged");
    writer.close().expect("nothing buffered");
    assert_eq!(writer.write_file(&file, 0, 1), Err(Error::Closed));
    let bytes = whole.to_vec().expect("a copy");
    let mut guards = bytes[..64].iter().chain(&bytes[bytes.len() - 64..]);
    assert!(guards.all(|byte| *byte == 0xA5), "written outside the buffer");
}

#[test]
fn an_immutable_buffer_is_not_opened_for_writing() {
    let (_, inner) = guarded(10);
    assert!(BufferWriter::new(inner.read_only()).is_err());
}
