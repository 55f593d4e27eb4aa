//! Record batches as messages in device memory.

use arrow_array::{ArrayRef, BooleanArray, Int32Array, RecordBatch, StringArray};
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::Context;
use arrow_cuda_ipc::{DeviceMessage, Error, read_record_batch, serialize_record_batch};
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
    let buffer = DeviceBuffer::allocate(&context(), bytes.len() as u64).expect("room");
    buffer.copy_from_host(0, bytes).expect("a copy");
    buffer
}

#[test]
fn a_batch_goes_to_the_device_and_back() {
    let batch = batch();
    let buffer = serialize_record_batch(&batch, &context()).expect("room");
    assert_eq!(read_record_batch(&buffer, &batch.schema()).expect("a message"), batch);
    let message = DeviceMessage::read(&buffer).expect("a message");
    assert!(!message.facts.is_compressed());
    assert_eq!(message.body.size(), message.facts.body_length);
}

#[test]
fn every_truncation_is_noticed() {
    let batch = batch();
    let whole = serialize_record_batch(&batch, &context()).expect("room").to_vec().expect("bytes");
    for size in 0..whole.len() {
        let damaged = upload(&whole[..size]);
        let read = DeviceMessage::read(&damaged);
        match size {
            0 => assert!(matches!(read, Err(Error::EndOfStream))),
            _ => assert!(matches!(read, Err(Error::Message(_))), "{size}: {read:?}"),
        }
    }
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
            prop_assert!(message.body.size() <= buffer.size());
        }
        // An error or another batch, whatever the bytes.
        drop(read_record_batch(&buffer, &batch.schema()));
    }
}
