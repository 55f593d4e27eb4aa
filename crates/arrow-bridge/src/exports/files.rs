//! Files over device memory for C++.

use super::buffers::{host, host_mut};
use crate::fault::{Made, Outcome, attempt, attempted, byte_count, made, unsigned};
use crate::ffi::{Failure, RustBuffer, RustReader, RustWriter};
use std::ffi::c_void;

/// A position of which a negative one is out of bounds, like one past the end.
fn bounded(position: i64) -> u64 {
    u64::try_from(position).unwrap_or(u64::MAX)
}

pub(super) extern "C" fn reader_open(buffer: &RustBuffer) -> Box<RustReader> {
    Box::new(RustReader::open(buffer.clone()))
}

pub(super) extern "C" fn reader_close(reader: &RustReader) {
    reader.close();
}

pub(super) extern "C" fn reader_is_closed(reader: &RustReader) -> bool {
    reader.is_closed()
}

pub(super) extern "C" fn reader_tell(reader: &RustReader) -> Outcome<i64> {
    attempt(|| Ok(reader.tell()?.cast_signed()))
}

pub(super) extern "C" fn reader_size(reader: &RustReader) -> Outcome<i64> {
    attempt(|| Ok(reader.size()?.cast_signed()))
}

pub(super) extern "C" fn reader_seek(reader: &RustReader, position: i64) -> Failure {
    attempted(|| Ok(reader.seek(bounded(position))?))
}

pub(super) unsafe extern "C" fn reader_read(
    reader: &RustReader,
    size: i64,
    out: *mut c_void,
) -> Outcome<i64> {
    attempt(|| {
        // SAFETY: C++ passes `size` writable bytes.
        let out = unsafe { host_mut(out, size)? };
        Ok(reader.read(out)? as i64)
    })
}

pub(super) unsafe extern "C" fn reader_read_at(
    reader: &RustReader,
    position: i64,
    size: i64,
    out: *mut c_void,
) -> Outcome<i64> {
    attempt(|| {
        let position = unsigned("a position", position)?;
        // SAFETY: C++ passes `size` writable bytes.
        let out = unsafe { host_mut(out, size)? };
        Ok(reader.read_at(position, out)? as i64)
    })
}

pub(super) extern "C" fn reader_read_buffer(reader: &RustReader, size: i64) -> Made<RustBuffer> {
    made(|| {
        let size = unsigned("the number of bytes to read", size)?;
        Ok(reader.read_buffer(size)?)
    })
}

pub(super) extern "C" fn reader_read_buffer_at(
    reader: &RustReader,
    position: i64,
    size: i64,
) -> Made<RustBuffer> {
    made(|| {
        let position = unsigned("a position", position)?;
        let size = unsigned("the number of bytes to read", size)?;
        Ok(reader.read_buffer_at(position, size)?)
    })
}

pub(super) extern "C" fn writer_open(buffer: &RustBuffer) -> Made<RustWriter> {
    made(|| Ok(RustWriter::open(buffer.clone())?))
}

pub(super) extern "C" fn writer_close(writer: &RustWriter) -> Failure {
    attempted(|| Ok(writer.close()?))
}

pub(super) extern "C" fn writer_is_closed(writer: &RustWriter) -> bool {
    writer.is_closed()
}

pub(super) extern "C" fn writer_tell(writer: &RustWriter) -> Outcome<i64> {
    attempt(|| Ok(writer.tell()?.cast_signed()))
}

pub(super) extern "C" fn writer_seek(writer: &RustWriter, position: i64) -> Failure {
    attempted(|| Ok(writer.seek(bounded(position))?))
}

pub(super) unsafe extern "C" fn writer_write(
    writer: &RustWriter,
    data: *const c_void,
    size: i64,
) -> Failure {
    // SAFETY: C++ passes `size` readable bytes.
    attempted(|| Ok(writer.write(unsafe { host(data, size)? })?))
}

pub(super) extern "C" fn writer_write_device(writer: &RustWriter, data: &RustBuffer) -> Failure {
    attempted(|| Ok(writer.write_device(data)?))
}

pub(super) unsafe extern "C" fn writer_write_at(
    writer: &RustWriter,
    position: i64,
    data: *const c_void,
    size: i64,
) -> Failure {
    attempted(|| {
        // SAFETY: C++ passes `size` readable bytes.
        Ok(writer.write_at(bounded(position), unsafe { host(data, size)? })?)
    })
}

pub(super) extern "C" fn writer_flush(writer: &RustWriter) -> Failure {
    attempted(|| Ok(writer.flush()?))
}

pub(super) extern "C" fn writer_set_buffer_size(writer: &RustWriter, size: i64) -> Failure {
    attempted(|| Ok(writer.set_buffer_size(byte_count("the size of the host buffer", size)?)?))
}
