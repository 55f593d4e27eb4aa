//! Files over device memory for C++.

use super::buffers::{host, host_mut};
use super::hand_over;
use crate::fault::{Fault, attempt, unsigned};
use crate::ffi::{Failure, Kind, RustBuffer, RustReader, RustWriter};
use std::ffi::c_void;
use std::ptr;

pub(super) unsafe extern "C" fn reader_open(buffer: *const RustBuffer) -> *mut RustReader {
    // SAFETY: a live buffer of this table.
    hand_over(RustReader::open(unsafe { &*buffer }.clone()))
}

pub(super) unsafe extern "C" fn reader_release(reader: *mut RustReader) {
    // SAFETY: C++ releases its reference once.
    drop(unsafe { Box::from_raw(reader) });
}

pub(super) unsafe extern "C" fn reader_close(reader: *mut RustReader) {
    // SAFETY: a live reader.
    unsafe { &*reader }.close();
}

pub(super) unsafe extern "C" fn reader_is_closed(reader: *const RustReader) -> bool {
    // SAFETY: a live reader.
    unsafe { &*reader }.is_closed()
}

pub(super) unsafe extern "C" fn reader_tell(
    reader: *const RustReader,
    out: *mut i64,
    failure: *mut Failure,
) -> bool {
    // SAFETY: a live reader and a writable place; guaranteed by the caller.
    unsafe {
        attempt(failure, || {
            out.write((*reader).tell()?.cast_signed());
            Ok(())
        })
        .is_some()
    }
}

pub(super) unsafe extern "C" fn reader_size(
    reader: *const RustReader,
    out: *mut i64,
    failure: *mut Failure,
) -> bool {
    // SAFETY: a live reader and a writable place; guaranteed by the caller.
    unsafe {
        attempt(failure, || {
            out.write((*reader).size()?.cast_signed());
            Ok(())
        })
        .is_some()
    }
}

pub(super) unsafe extern "C" fn reader_seek(
    reader: *mut RustReader,
    position: i64,
    failure: *mut Failure,
) -> bool {
    let work = || {
        // A negative position is out of bounds, like one past the end.
        let position = u64::try_from(position).unwrap_or(u64::MAX);
        // SAFETY: a live reader.
        Ok(unsafe { &*reader }.seek(position)?)
    };
    // SAFETY: guaranteed by the caller.
    unsafe { attempt(failure, work) }.is_some()
}

pub(super) unsafe extern "C" fn reader_read(
    reader: *mut RustReader,
    size: i64,
    out: *mut c_void,
    failure: *mut Failure,
) -> i64 {
    let work = || {
        // SAFETY: a live reader, and `size` writable bytes.
        let (reader, out) = unsafe { (&*reader, host_mut(out, size)?) };
        Ok(reader.read(out)? as i64)
    };
    // SAFETY: guaranteed by the caller.
    unsafe { attempt(failure, work) }.unwrap_or(-1)
}

pub(super) unsafe extern "C" fn reader_read_at(
    reader: *mut RustReader,
    position: i64,
    size: i64,
    out: *mut c_void,
    failure: *mut Failure,
) -> i64 {
    let work = || {
        let position = unsigned("a position", position)?;
        // SAFETY: a live reader, and `size` writable bytes.
        let (reader, out) = unsafe { (&*reader, host_mut(out, size)?) };
        Ok(reader.read_at(position, out)? as i64)
    };
    // SAFETY: guaranteed by the caller.
    unsafe { attempt(failure, work) }.unwrap_or(-1)
}

pub(super) unsafe extern "C" fn reader_read_buffer(
    reader: *mut RustReader,
    size: i64,
    failure: *mut Failure,
) -> *mut RustBuffer {
    let work = || {
        let size = unsigned("the number of bytes to read", size)?;
        // SAFETY: a live reader.
        Ok(hand_over(unsafe { &*reader }.read_buffer(size)?))
    };
    // SAFETY: guaranteed by the caller.
    unsafe { attempt(failure, work) }.unwrap_or(ptr::null_mut())
}

pub(super) unsafe extern "C" fn reader_read_buffer_at(
    reader: *mut RustReader,
    position: i64,
    size: i64,
    failure: *mut Failure,
) -> *mut RustBuffer {
    let work = || {
        let position = unsigned("a position", position)?;
        let size = unsigned("the number of bytes to read", size)?;
        // SAFETY: a live reader.
        Ok(hand_over(unsafe { &*reader }.read_buffer_at(position, size)?))
    };
    // SAFETY: guaranteed by the caller.
    unsafe { attempt(failure, work) }.unwrap_or(ptr::null_mut())
}

pub(super) unsafe extern "C" fn writer_open(
    buffer: *const RustBuffer,
    failure: *mut Failure,
) -> *mut RustWriter {
    // SAFETY: a live buffer; guaranteed by the caller.
    unsafe {
        attempt(failure, || Ok(hand_over(RustWriter::open((*buffer).clone())?)))
            .unwrap_or(ptr::null_mut())
    }
}

pub(super) unsafe extern "C" fn writer_release(writer: *mut RustWriter) {
    // SAFETY: C++ releases its reference once.
    drop(unsafe { Box::from_raw(writer) });
}

pub(super) unsafe extern "C" fn writer_close(
    writer: *mut RustWriter,
    failure: *mut Failure,
) -> bool {
    // SAFETY: a live writer; guaranteed by the caller.
    unsafe { attempt(failure, || Ok((*writer).close()?)).is_some() }
}

pub(super) unsafe extern "C" fn writer_is_closed(writer: *const RustWriter) -> bool {
    // SAFETY: a live writer.
    unsafe { &*writer }.is_closed()
}

pub(super) unsafe extern "C" fn writer_tell(
    writer: *const RustWriter,
    out: *mut i64,
    failure: *mut Failure,
) -> bool {
    // SAFETY: a live writer and a writable place; guaranteed by the caller.
    unsafe {
        attempt(failure, || {
            out.write((*writer).tell()?.cast_signed());
            Ok(())
        })
        .is_some()
    }
}

pub(super) unsafe extern "C" fn writer_seek(
    writer: *mut RustWriter,
    position: i64,
    failure: *mut Failure,
) -> bool {
    let work = || {
        // A negative position is out of bounds, like one past the end.
        let position = u64::try_from(position).unwrap_or(u64::MAX);
        // SAFETY: a live writer.
        Ok(unsafe { &*writer }.seek(position)?)
    };
    // SAFETY: guaranteed by the caller.
    unsafe { attempt(failure, work) }.is_some()
}

pub(super) unsafe extern "C" fn writer_write(
    writer: *mut RustWriter,
    data: *const c_void,
    size: i64,
    failure: *mut Failure,
) -> bool {
    // SAFETY: a live writer, and `size` readable bytes; guaranteed by the caller.
    unsafe { attempt(failure, || Ok((*writer).write(host(data, size)?)?)).is_some() }
}

pub(super) unsafe extern "C" fn writer_write_device(
    writer: *mut RustWriter,
    data: *const RustBuffer,
    failure: *mut Failure,
) -> bool {
    // SAFETY: a live writer and buffer; guaranteed by the caller.
    unsafe { attempt(failure, || Ok((*writer).write_device(&*data)?)).is_some() }
}

pub(super) unsafe extern "C" fn writer_write_at(
    writer: *mut RustWriter,
    position: i64,
    data: *const c_void,
    size: i64,
    failure: *mut Failure,
) -> bool {
    let work = || {
        let position = u64::try_from(position).unwrap_or(u64::MAX);
        // SAFETY: a live writer, and `size` readable bytes.
        let (writer, data) = unsafe { (&*writer, host(data, size)?) };
        Ok(writer.write_at(position, data)?)
    };
    // SAFETY: guaranteed by the caller.
    unsafe { attempt(failure, work) }.is_some()
}

pub(super) unsafe extern "C" fn writer_flush(
    writer: *mut RustWriter,
    failure: *mut Failure,
) -> bool {
    // SAFETY: a live writer; guaranteed by the caller.
    unsafe { attempt(failure, || Ok((*writer).flush()?)).is_some() }
}

pub(super) unsafe extern "C" fn writer_set_buffer_size(
    writer: *mut RustWriter,
    size: i64,
    failure: *mut Failure,
) -> bool {
    let work = || {
        let size = unsigned("the size of the host buffer", size)?;
        let size = usize::try_from(size).map_err(|error| Fault::new(Kind::Memory, error))?;
        // SAFETY: a live writer.
        Ok(unsafe { &*writer }.set_buffer_size(size)?)
    };
    // SAFETY: guaranteed by the caller.
    unsafe { attempt(failure, work) }.is_some()
}
