//! Record batches as messages in device memory.

#[path = "common/columns.rs"]
mod columns;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Int32Array, Int64Array, RecordBatch, StringArray,
    StructArray,
};
use arrow_cuda_buffer::{DeviceBuffer, DeviceSlice};
use arrow_cuda_context::Context;
use arrow_cuda_ipc::{
    DeviceMessage, Error, read_record_batch, read_stream, serialize_record_batch, serialize_stream,
};
use arrow_ipc::writer::{
    DictionaryTracker, IpcDataGenerator, IpcWriteContext, IpcWriteOptions, write_message,
};
use arrow_schema::{DataType, Field, Schema};
use columns::columns;
use proptest::prelude::*;
use std::sync::Arc;

fn context() -> Context {
    Context::primary(0).expect("a device")
}

fn batch() -> RecordBatch {
    let columns: [(&str, ArrayRef); 3] = [
        ("numbers", Arc::new(Int32Array::from(vec![Some(1), None, Some(3)]))),
        ("words", Arc::new(StringArray::from(vec!["one", "", "three"]))),
        ("flags", Arc::new(BooleanArray::from(vec![true, false, true]))),
    ];
    RecordBatch::try_from_iter(columns).expect("columns of one length")
}

fn upload(bytes: &[u8]) -> DeviceBuffer {
    DeviceSlice::from_slice(&context(), bytes).expect("room").into_buffer()
}

/// The message as arrow-rs writes it into contiguous host memory.
fn written(batch: &RecordBatch) -> Vec<u8> {
    let options = IpcWriteOptions::default();
    let (mut tracker, mut context) = (DictionaryTracker::new(false), IpcWriteContext::default());
    let encoded = IpcDataGenerator::default().encode(batch, &mut tracker, &options, &mut context);
    let (dictionaries, data) = encoded.expect("a batch that can be written");
    assert!(dictionaries.is_empty());
    let mut bytes = Vec::new();
    write_message(&mut bytes, data, &options).expect("memory takes all");
    bytes
}

#[test]
fn the_message_is_what_arrow_writes() {
    let whole = columns(1000);
    // 500 columns, whose metadata is longer than what is copied at once.
    let wide: Vec<(String, ArrayRef)> =
        (0..500).map(|i| (format!("c{i}"), Arc::clone(whole.column(i % 6)))).collect();
    let wide = RecordBatch::try_from_iter(wide).expect("columns of one length");
    let empty = RecordBatch::new_empty(Arc::new(Schema::empty()));
    let batches = [batch(), whole.slice(3, 17), whole.slice(5, 0), whole, wide, empty];
    for batch in &batches {
        let buffer = serialize_record_batch(batch, &context()).expect("room");
        assert_eq!(buffer.to_vec().expect("bytes"), written(batch));
        let message = DeviceMessage::read(&buffer).expect("a message");
        assert_eq!(buffer.len() % 8, 0);
        assert_eq!(message.body.len() as u64, message.facts.body_length);
        assert_eq!(message.metadata.len() + 8 + message.body.len(), buffer.len());
        assert_eq!(&read_record_batch(&buffer, batch.schema()).expect("a message"), batch);
    }
}

#[test]
fn dictionaries_are_refused_wherever_they_are() {
    let words: ArrayRef =
        Arc::new(["a", "b", "a"].into_iter().collect::<DictionaryArray<Int32Type>>());
    let inner = Arc::new(Field::new("inner", words.data_type().clone(), true));
    let nested: ArrayRef = Arc::new(StructArray::from(vec![(inner, Arc::clone(&words))]));
    assert!(matches!(words.data_type(), DataType::Dictionary(..)));
    for column in [words, nested] {
        let batch = RecordBatch::try_from_iter([("words", column)]).expect("one column");
        let refused = serialize_record_batch(&batch, &context()).expect_err("a dictionary");
        assert!(refused.to_string().contains("serialize_stream or serialize_device_stream"));
        let buffer =
            serialize_stream(&batch.schema(), &[batch.clone(), batch.slice(1, 2)], &context());
        let (schema, batches) = read_stream(&buffer.expect("room")).expect("a stream");
        assert_eq!((schema, batches), (batch.schema(), vec![batch.clone(), batch.slice(1, 2)]));
    }
}

#[test]
fn a_stream_has_one_schema_and_may_be_empty() {
    let schema = batch().schema();
    let empty = serialize_stream(&schema, &[], &context()).expect("room");
    assert_eq!(read_stream(&empty).expect("a stream"), (schema, vec![]));
    let column: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let other = RecordBatch::try_from_iter([("other", column)]).expect("one column");
    let refused = serialize_stream(&batch().schema(), &[batch(), other], &context());
    assert!(matches!(refused, Err(Error::Message(_))), "{refused:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn damaged_metadata_never_leads_outside(at in 0..400usize, bit in 0..8u32) {
        let batch = batch();
        let mut bytes = serialize_record_batch(&batch, &context())?.to_vec()?;
        let at = at % bytes.len();
        bytes[at] ^= 1 << bit;
        let buffer = upload(&bytes);
        if let Ok(message) = DeviceMessage::read(&buffer) {
            prop_assert!(message.body.len() <= buffer.len());
        }
        // An error or another batch, whatever the bytes.
        drop(read_record_batch(&buffer, batch.schema()));
    }
}
