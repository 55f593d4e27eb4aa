//! Traits that programs expect of all types.

use arrow_cuda::tensor::{ElementType, StridedArray, StridedLayout};
use arrow_cuda::{
    ArrayParts, BufferReader, BufferWriter, Context, CudaError, DeviceArray, DeviceBuffer,
    DeviceRecordBatch, DeviceSlice, Error, Event, HostBuffer, Stream,
};
use arrow_schema::{ArrowError, DataType};
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
    is_shared::<DeviceArray>();
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
        let mut writer = BufferWriter::new(buffer.clone())?;
        write!(writer, "{:05}", 42)?;
        assert_eq!(writer.seek(SeekFrom::Current(-1))?, 4);
        writer.write_all(b"abcdef")?;
        let full = writer.write_all(b"g").expect_err("the buffer is full");
        assert_eq!(full.kind(), ErrorKind::WriteZero);
        Write::flush(&mut writer)?;
        let mut reader = BufferReader::new(buffer);
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
    let mut writer = BufferWriter::new(DeviceBuffer::allocate(&context, 8)?)?;
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
    assert!(BufferWriter::new(empty.clone())?.rewind().is_ok());
    assert!(BufferReader::new(empty).rewind().is_ok());
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
    // Errors of messages come back as well: a reader may wait for the end.
    let end = arrow_cuda::ipc::Error::EndOfStream;
    assert_eq!(arrow_cuda::ipc::Error::from(ArrowError::from(end.clone())), end);
    let lack = ArrowError::from(CudaError::of_call("cuMemAlloc_v2", 2));
    let lack = arrow_cuda::ipc::Error::from(lack);
    assert_eq!(std::io::Error::from(lack).kind(), ErrorKind::OutOfMemory);
    let missing = std::io::Error::from(ErrorKind::NotFound);
    let error = Error::from(ArrowError::IoError("no file".into(), missing));
    assert_eq!(std::io::Error::from(error).kind(), ErrorKind::NotFound);
}

#[test]
fn a_function_with_arrow_rs_error_takes_all_of_ours() {
    fn any(which: usize) -> Result<(), ArrowError> {
        let context = Context::primary(0)?;
        let buffer = DeviceBuffer::from_slice(&context, &[1u8, 2, 3])?;
        match which {
            0 => drop(Context::primary(9999)?),
            1 => drop(buffer.slice(2..5)?),
            2 => BufferReader::new(buffer).set_position(9)?,
            3 => drop(StridedLayout::row_major(ElementType::int(4), vec![-1])?),
            4 => drop(arrow_cuda::ipc::read_stream(&buffer.slice(..0)?)?),
            _ => drop(std::fs::read("/nonexistent/file").map_err(Error::from)?),
        }
        Ok(())
    }
    let found: Vec<_> =
        (0..6).map(|which| Error::from(any(which).expect_err("a mistake"))).collect();
    assert!(
        matches!(
            &found[..],
            [
                Error::Cuda(_),
                Error::Buffer(_),
                Error::File(_),
                Error::Tensor(_),
                Error::Ipc(_),
                Error::Array(_)
            ]
        ),
        "{found:?}"
    );
}

#[test]
fn columns_become_slices_of_numbers_and_back() -> Result<(), Error> {
    use arrow_cuda::arrow_array::types::{
        Decimal128Type, Float64Type, Int64Type, TimestampSecondType,
    };
    use arrow_cuda::arrow_array::{Int64Array, TimestampSecondArray};

    let context = Context::primary(0)?;
    let numbers = Int64Array::from(vec![Some(1), None, Some(3), Some(4)]);
    let column = DeviceArray::from_host(&context, &numbers)?;
    assert_eq!(column.slice(2, 2)?.values::<Int64Type>()?.to_vec()?, [3, 4]);
    assert!(column.slice(4, 0)?.values::<Int64Type>()?.is_empty());
    assert!(
        column.values::<Float64Type>().is_err() && column.values::<TimestampSecondType>().is_err()
    );
    let decimals = DeviceSlice::from_slice(&context, &[1i128])?;
    assert!(DeviceArray::from_values::<Decimal128Type>(decimals).is_err());
    let odd = DeviceBuffer::from_slice(&context, &[0u8; 9])?.slice(1..)?;
    let parts = ArrayParts { buffers: vec![odd], ..ArrayParts::new(DataType::Int64, 1) };
    let odd = DeviceArray::new(&context, parts)?;
    assert!(odd.values::<Int64Type>().is_err());
    assert!(odd.slice(1, 0)?.values::<Int64Type>()?.is_empty());
    let there = DeviceArray::from_values::<Int64Type>(column.slice(2, 2)?.values::<Int64Type>()?)?;
    assert!(there.equals(&column.slice(2, 2)?)? && !there.equals(&column.slice(1, 2)?)?);
    let times = TimestampSecondArray::from(vec![5, 6]).with_timezone("Europe/Paris");
    let times = DeviceArray::from_host(&context, &times)?;
    assert_eq!(times.values::<TimestampSecondType>()?.to_vec()?, [5, 6]);
    Ok(())
}

#[test]
fn a_file_is_no_stream() -> Result<(), Error> {
    let bytes = DeviceBuffer::from_slice(&Context::primary(0)?, b"ARROW1\0\0\0\0\0\0")?;
    let refused = arrow_cuda::ipc::read_device_stream(&bytes).expect_err("a file").to_string();
    assert!(refused.starts_with("an Arrow file, not a stream: read it with"), "{refused}");
    Ok(())
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
