//! Streams of record batches between libraries.

#[path = "../../context/tests/common/mod.rs"]
mod device;

use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use arrow_cuda_array::{
    DeviceBatchStream, DeviceRecordBatch, Error, FFI_ArrowDeviceArrayStream, c_device,
};
use arrow_cuda_context::Context;
use arrow_schema::Schema;
use device::alone;
use rstest::rstest;
use std::sync::Arc;
use std::thread;

fn batch() -> RecordBatch {
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, Some(3)]));
    let words: ArrayRef = Arc::new(StringArray::from(vec!["one", "two", "three"]));
    let batch = RecordBatch::try_from_iter([("numbers", numbers), ("words", words)]);
    let batch = batch.expect("a batch");
    let metadata = std::collections::HashMap::from([("key".into(), "value".into())]);
    let schema = batch.schema().as_ref().clone().with_metadata(metadata);
    batch.with_schema(schema.into()).expect("the same fields")
}

fn import(context: &Context, stream: FFI_ArrowDeviceArrayStream) -> DeviceBatchStream {
    // SAFETY: made by this crate.
    unsafe { DeviceBatchStream::import(context, stream) }.expect("a stream")
}

#[test]
fn batches_go_through_a_stream_without_a_copy() {
    let (_alone, context) = alone();
    let before = context.bytes_allocated().expect("alive");
    let there = DeviceRecordBatch::from_host(&context, &batch()).expect("room");
    let parts = [there.slice(0, 1), there.slice(1, 2), there.slice(3, 0)];
    let mut stream = FFI_ArrowDeviceArrayStream::new(batch().schema(), parts);
    assert_eq!(stream.device_type, c_device::CUDA);
    // As a consumer in C gets it; another thread may go on.
    // SAFETY: a live structure.
    let moved = unsafe { FFI_ArrowDeviceArrayStream::from_raw(&mut stream) };
    assert!(stream.is_released());
    let mut imported =
        thread::scope(|scope| scope.spawn(|| import(&context, moved)).join().expect("no panic"));
    assert_eq!(imported.schema(), &batch().schema());
    let found: Vec<_> = imported.by_ref().map(|batch| batch.expect("sound")).collect();
    assert!(imported.next().is_none());
    let address = |batch: &DeviceRecordBatch| batch.column(0).buffers()[0].private_address();
    assert!(found.iter().take(2).all(|part| address(part) == address(&there)));
    let rows: Vec<_> = found.iter().map(DeviceRecordBatch::num_rows).collect();
    assert_eq!(rows, [1, 2, 0]);
    assert_eq!(found[1].to_host().expect("valid"), batch().slice(1, 2));
    drop((there, found, imported));
    assert_eq!(context.bytes_allocated().expect("alive"), before);
}

#[rstest]
#[case::error(
    || Err(Error::Invalid("the producer's \0 text".into())),
    "the stream of batches failed: the producer's   text (error 5)"
)]
#[case::panic(|| panic!("in an iterator"), "the stream of batches failed: the producer of the stream panicked")]
#[case::schema(
    || {
        let column: ArrayRef = Arc::new(Int32Array::from(vec![1]));
        let other = RecordBatch::try_from_iter([("x", column)]).expect("a batch");
        DeviceRecordBatch::from_host(&Context::primary(0)?, &other)
    },
    "the stream of batches failed: a batch with the schema"
)]
fn a_failure_ends_the_stream(
    #[case] fails: fn() -> Result<DeviceRecordBatch, Error>,
    #[case] expected: &str,
) {
    let (_alone, context) = alone();
    let there = DeviceRecordBatch::from_host(&context, &batch()).expect("room");
    let before = context.bytes_allocated().expect("alive");
    let batches = (0..3).map(move |number| if number == 1 { fails() } else { Ok(there.clone()) });
    let mut stream = import(&context, FFI_ArrowDeviceArrayStream::new(batch().schema(), batches));
    drop(stream.next().expect("one").expect("sound"));
    let failure = stream.next().expect("a failure").expect_err("not a batch");
    assert!(failure.to_string().starts_with(expected), "{failure}");
    assert!(stream.next().is_none());
    // The stream was released, and with it what its batches are made of.
    assert!(context.bytes_allocated().expect("alive") < before);
}

#[test]
fn streams_that_were_released_or_lack_functions_are_refused() {
    let (_alone, context) = alone();
    let schema = Arc::new(Schema::empty());
    let mut stream = FFI_ArrowDeviceArrayStream::new(schema, []);
    // SAFETY: the first function pointer of the structure, which may be null.
    unsafe { (&raw mut stream).cast::<usize>().add(1).write(0) };
    for (stream, expected) in [(FFI_ArrowDeviceArrayStream::empty(), "released"), (stream, "lacks")]
    {
        // SAFETY: no function of it can be called.
        let refused = unsafe { DeviceBatchStream::import(&context, stream) };
        let refused = refused.expect_err("no stream").to_string();
        assert!(refused.contains(expected), "{refused}");
    }
}
