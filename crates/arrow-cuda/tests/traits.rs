//! What programs expect of all types.

use arrow_cuda::tensor::DeviceArray;
use arrow_cuda::{
    BufferReader, BufferWriter, Context, CudaError, DeviceArrayData, DeviceBuffer,
    DeviceRecordBatch, DeviceSlice, Error, Event, HostBuffer, Stream,
};
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
    is_shared::<DeviceArray>();
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
fn errors_keep_their_kinds_and_sources() {
    use std::error::Error as _;

    let lack = CudaError::of_call("cuMemAlloc_v2", 2);
    let error = Error::from(arrow_cuda::ipc::Error::from(lack.clone()));
    assert_eq!(error, Error::Cuda(lack));
    assert_eq!(std::io::Error::from(error).kind(), ErrorKind::OutOfMemory);
    let theirs = arrow_schema::ArrowError::ParseError("what it was".into());
    let error = Error::from(theirs);
    assert_eq!(error.to_string(), "Parser error: what it was");
    assert!(matches!(error, Error::Array(_)) && error.source().is_none());
}
