//! Files over device memory for C++.

use super::buffers::{host, host_mut};
use crate::fault::{Made, Outcome, byte_count, unsigned};
use crate::ffi::{Failure, RustBuffer, RustReader, RustWriter};
use std::ffi::c_void;

/// A position of which a negative one is out of bounds, like one past the end.
fn bounded(position: i64) -> u64 {
    u64::try_from(position).unwrap_or(u64::MAX)
}

exported! {
    answer reader_open(buffer: &RustBuffer) -> Box<RustReader> {
        Box::new(RustReader::new(buffer.clone()))
    }

    answer reader_close(reader: &RustReader) {
        reader.close();
    }

    answer reader_is_closed(reader: &RustReader) -> bool {
        reader.is_closed()
    }

    attempt reader_tell(reader: &RustReader) -> Outcome<i64> {
        Ok(reader.position()?.cast_signed())
    }

    attempt reader_size(reader: &RustReader) -> Outcome<i64> {
        Ok(reader.size()? as i64)
    }

    attempted reader_seek(reader: &RustReader, position: i64) -> Failure {
        Ok(reader.set_position(bounded(position))?)
    }

    attempt reader_read(reader: &RustReader, size: i64, out: *mut c_void) -> Outcome<i64> {
        // SAFETY: C++ passes `size` writable bytes.
        let out = unsafe { host_mut(out, size)? };
        Ok(reader.read_uninit(out)? as i64)
    }

    attempt reader_read_at(
        reader: &RustReader,
        position: i64,
        size: i64,
        out: *mut c_void,
    ) -> Outcome<i64> {
        let position = unsigned("a position", position)?;
        // SAFETY: C++ passes `size` writable bytes.
        let out = unsafe { host_mut(out, size)? };
        Ok(reader.read_at(position, out)? as i64)
    }

    made reader_read_buffer(reader: &RustReader, size: i64) -> Made<RustBuffer> {
        let size = byte_count("the number of bytes to read", size)?;
        Ok(reader.read_buffer(size)?)
    }

    made reader_read_buffer_at(reader: &RustReader, position: i64, size: i64) -> Made<RustBuffer> {
        let position = unsigned("a position", position)?;
        let size = byte_count("the number of bytes to read", size)?;
        Ok(reader.read_buffer_at(position, size)?)
    }

    made writer_open(buffer: &RustBuffer) -> Made<RustWriter> {
        Ok(RustWriter::new(buffer.clone())?)
    }

    attempted writer_close(writer: &RustWriter) -> Failure {
        Ok(writer.close()?)
    }

    answer writer_is_closed(writer: &RustWriter) -> bool {
        writer.is_closed()
    }

    attempt writer_tell(writer: &RustWriter) -> Outcome<i64> {
        Ok(writer.position()?.cast_signed())
    }

    attempted writer_seek(writer: &RustWriter, position: i64) -> Failure {
        Ok(writer.set_position(bounded(position))?)
    }

    attempted writer_write(writer: &RustWriter, data: *const c_void, size: i64) -> Failure {
        // SAFETY: C++ passes `size` readable bytes.
        Ok(writer.write_bytes(unsafe { host(data, size)? })?)
    }

    attempted writer_write_device(writer: &RustWriter, data: &RustBuffer) -> Failure {
        Ok(writer.write_device(data)?)
    }

    attempted writer_write_at(
        writer: &RustWriter,
        position: i64,
        data: *const c_void,
        size: i64,
    ) -> Failure {
        // SAFETY: C++ passes `size` readable bytes.
        Ok(writer.write_at(bounded(position), unsafe { host(data, size)? })?)
    }

    attempted writer_flush(writer: &RustWriter) -> Failure {
        Ok(writer.flush()?)
    }

    attempted writer_set_buffer_size(writer: &RustWriter, size: i64) -> Failure {
        Ok(writer.set_buffer_size(byte_count("the size of the host buffer", size)?)?)
    }

    answer reader_release(reader: Box<RustReader>) {
        drop(reader);
    }

    /// Flushes buffered bytes.
    answer writer_release(writer: Box<RustWriter>) {
        drop(writer);
    }
}
