//! Traits that programs expect of all types.

use arrow_cuda::tensor::StridedArray;
use arrow_cuda::{
    BufferReader, BufferWriter, Context, CudaError, DeviceArrayData, DeviceBuffer,
    DeviceRecordBatch, DeviceSlice, Error, Event, HostBuffer, Stream,
};
use arrow_schema::ArrowError;
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::panic::{RefUnwindSafe, UnwindSafe};

fn is_shared<T: Send + Sync + UnwindSafe + RefUnwindSafe + std::fmt::Debug>() {}

#[test]
fn threads_and_panics_may_meet_them() {
    is_shared::<Context>();
    is_shared::<Stream>();
    is_shared::<Event>();
    is_shared::<DeviceBuffer>();
    is_shared::<DeviceSlice<i32>>();
    is_shared::<DeviceArrayData>();
    is_shared::<DeviceRecordBatch>();
    is_shared::<StridedArray>();
    is_shared::<HostBuffer>();
    is_shared::<Error>();
}

#[test]
fn handles_are_equal_if_the_driver_s_are() -> Result<(), Error> {
    let context = Context::primary(0)?;
    assert_eq!(context, Context::new(0)?);
    let (one, other) = (Stream::new(&context)?, Stream::new(&context)?);
    assert!(one == one.clone() && one != other);
    let text = format!("{context:?}");
    assert!(text.starts_with("Context { device: 0, handle: 0x"), "{text}");
    Ok(())
}

#[test]
fn files_have_the_standard_library_s_traits() -> Result<(), Error> {
    fn round_trip(context: &Context) -> std::io::Result<Vec<u8>> {
        let buffer = DeviceBuffer::allocate(context, 10)?;
        let mut writer = BufferWriter::open(buffer.clone())?;
        write!(writer, "{:05}", 42)?;
        assert_eq!(writer.seek(SeekFrom::Current(-1))?, 4);
        writer.write_all(b"abcdef")?;
        let full = writer.write_all(b"g").expect_err("the buffer is full");
        assert_eq!(full.kind(), ErrorKind::WriteZero);
        Write::flush(&mut writer)?;
        let mut reader = BufferReader::open(buffer);
        assert_eq!(reader.seek(SeekFrom::End(-7))?, 3);
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes)?;
        assert_eq!(
            reader.seek(SeekFrom::End(1)).expect_err("outside").kind(),
            ErrorKind::InvalidInput
        );
        Ok(bytes)
    }
    assert_eq!(round_trip(&Context::primary(0)?).expect("room"), b"4abcdef");
    let mut pinned = HostBuffer::allocate(&Context::primary(0)?, 3)?;
    pinned.copy_from_slice(b"abc");
    assert_eq!((pinned.as_ref(), pinned.first()), (&b"abc"[..], Some(&b'a')));
    Ok(())
}

#[test]
fn a_file_that_is_asked_where_it_is_changes_nothing() -> Result<(), Error> {
    let context = Context::primary(0)?;
    let mut writer = BufferWriter::open(DeviceBuffer::allocate(&context, 8)?)?;
    writer.set_buffer_size(16)?;
    writer.write_bytes(b"abc")?;
    assert_eq!(writer.stream_position().expect("open"), 3);
    assert_eq!(writer.seek(SeekFrom::End(-5)).expect("within"), 3);
    assert_eq!(writer.bytes_buffered(), 3);
    writer.write_bytes(b"defgh")?;
    // At the end, where nothing more can be written.
    assert_eq!(writer.seek(SeekFrom::End(0)).expect("within"), 8);
    assert!(writer.seek(SeekFrom::End(1)).is_err() && writer.position()? == 8);
    let empty = DeviceBuffer::allocate(&context, 0)?;
    assert!(BufferWriter::open(empty.clone())?.rewind().is_ok());
    assert!(BufferReader::open(empty).rewind().is_ok());
    Ok(())
}

#[test]
fn errors_survive_the_way_through_other_libraries() {
    let lack = CudaError::of_call("cuMemAlloc_v2", 2);
    let ours = [Error::Cuda(lack), Error::from(ArrowError::DivideByZero)];
    for error in ours {
        assert_eq!(Error::from(ArrowError::from(error.clone())), error);
    }
    let back = ArrowError::from(Error::from(ArrowError::DivideByZero));
    assert!(matches!(back, ArrowError::DivideByZero));
    let missing = std::io::Error::from(ErrorKind::NotFound);
    let error = Error::from(ArrowError::IoError("no file".into(), missing));
    assert_eq!(std::io::Error::from(error).kind(), ErrorKind::NotFound);
}

#[test]
fn errors_keep_their_kinds_and_sources() {
    use std::error::Error as _;

    let lack = CudaError::of_call("cuMemAlloc_v2", 2);
    let error = Error::from(arrow_cuda::ipc::Error::from(lack.clone()));
    assert_eq!(error, Error::Cuda(lack));
    assert_eq!(std::io::Error::from(error).kind(), ErrorKind::OutOfMemory);
    let theirs = ArrowError::ParseError("what it was".into());
    let error = Error::from(theirs);
    assert_eq!(error.to_string(), "Parser error: what it was");
    assert!(matches!(error, Error::Array(_)) && error.source().is_none());
}
