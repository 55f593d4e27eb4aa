//! Record batches of any type as messages and streams, on the host and on the device.

#[path = "../../arrow-array/tests/common/mod.rs"]
mod arrays;

use arrays::{Dice, array, field, types};
use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_cuda_array::{DeviceRecordBatch, child_types};
use arrow_cuda_buffer::{DeviceBuffer, DeviceSlice};
use arrow_cuda_context::Context;
use arrow_cuda_ipc::{
    DeviceMessage, Error, read_device_batch, read_device_stream, read_record_batch, read_stream,
    serialize_device_batch, serialize_device_stream, serialize_record_batch, serialize_stream,
};
use arrow_ipc::reader::StreamReader;
use arrow_schema::{DataType, Schema};
use proptest::prelude::*;
use std::sync::Arc;

fn context() -> Context {
    Context::primary(0).expect("a device")
}

fn batch(types: &[DataType], rows: usize, dice: &mut Dice) -> RecordBatch {
    let columns = types.iter().map(|data_type| array(data_type, rows, dice)).collect();
    let fields = types.iter().map(|data_type| field("x", data_type.clone(), true));
    let schema = Schema::new(fields.collect::<Vec<_>>());
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(schema.into(), columns, &options).expect("a batch")
}

fn has(batch: &RecordBatch, is_one: fn(&DataType) -> bool) -> bool {
    fn within(data_type: &DataType, is_one: fn(&DataType) -> bool) -> bool {
        is_one(data_type) || child_types(data_type).into_iter().any(|it| within(it, is_one))
    }
    batch.schema().fields().iter().any(|field| within(field.data_type(), is_one))
}

fn is_dictionary(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Dictionary(..))
}

fn is_dictionary_of_dictionaries(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Dictionary(_, values) if is_dictionary(values))
}

fn is_run(data_type: &DataType) -> bool {
    matches!(data_type, DataType::RunEndEncoded(..))
}

fn is_view(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8View | DataType::BinaryView)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn batches_on_the_device_become_messages(
        types in prop::collection::vec(types(), 0..4), rows in 0..20usize, seed in any::<u64>(),
    ) {
        let batch = batch(&types, rows, &mut Dice(seed));
        let part = DeviceRecordBatch::from_host(&context(), &batch)?.slice(rows / 3, rows / 2)?;
        if has(&batch, is_dictionary) {
            prop_assert!(serialize_device_batch(&part).is_err());
            return Ok(());
        }
        let message = serialize_device_batch(&part)?;
        prop_assert_eq!(message.len() % 64, 0);
        let read = read_record_batch(&message, batch.schema())?;
        prop_assert_eq!(&read, &batch.slice(rows / 3, rows / 2));
    }

    #[test]
    fn batches_on_the_device_become_streams(
        types in prop::collection::vec(types(), 0..4), rows in 0..20usize, seed in any::<u64>(),
    ) {
        let (batch, mut dice) = (batch(&types, rows, &mut Dice(seed)), Dice(!seed));
        // Some have their dictionaries in common, and one has others.
        let batches =
            [batch.slice(rows / 3, rows / 2), batch.slice(0, 0), batch.clone(), self::batch(&types, rows, &mut dice)];
        let whole = DeviceRecordBatch::from_host(&context(), &batch)?;
        let there = [
            whole.slice(rows / 3, rows / 2)?,
            whole.slice(0, 0)?,
            whole,
            DeviceRecordBatch::from_host(&context(), &batches[3])?,
        ];
        let stream = serialize_device_stream(&batch.schema(), &there, &context());
        if has(&batch, is_dictionary_of_dictionaries) {
            prop_assert!(matches!(stream, Err(Error::Message(_))));
            return Ok(());
        }
        let stream = stream?;
        prop_assert_eq!(&read_stream(&stream)?, &(batch.schema(), batches.to_vec()));
        // arrow-rs reads it, too.
        let bytes = stream.to_vec()?;
        let read: Vec<_> = StreamReader::try_new(&bytes[..], None)?.collect::<Result<_, _>>()?;
        prop_assert_eq!(&read[..], &batches);
    }

    #[test]
    fn messages_and_streams_are_read_on_the_device(
        types in prop::collection::vec(types(), 0..4), rows in 0..20usize, seed in any::<u64>(),
    ) {
        let batch = batch(&types, rows, &mut Dice(seed));
        // arrow-rs 60 writes too few buffers for views within runs without rows.
        prop_assume!(!has(&batch, is_run) || !has(&batch, is_view));
        if !has(&batch, is_dictionary) {
            let message = serialize_record_batch(&batch, &context())?;
            let there = read_device_batch(&message, batch.schema())?;
            prop_assert_eq!(&there.to_host()?, &batch);
        }
        let batches = [batch.slice(rows / 2, rows / 3), batch.slice(0, 0), batch.clone()];
        // arrow-rs does not write every dictionary.
        let Ok(stream) = serialize_stream(&batch.schema(), &batches, &context()) else {
            prop_assert!(has(&batch, is_dictionary));
            return Ok(());
        };
        let (schema, there) = read_device_stream(&stream)?;
        prop_assert_eq!(schema, batch.schema());
        let found = there.iter().map(DeviceRecordBatch::to_host);
        prop_assert_eq!(&found.collect::<Result<Vec<_>, _>>()?[..], &batches);
    }

    #[test]
    fn damaged_bytes_never_panic(
        types in prop::collection::vec(types(), 1..3), at in any::<prop::sample::Index>(),
        value in prop::sample::select(vec![0u8, 1, 0x80, 0xff]), seed in any::<u64>(),
    ) {
        let batch = batch(&types, 5, &mut Dice(seed));
        let batches = [batch.clone(), batch.clone()];
        let damaged = |buffer: DeviceBuffer| -> Result<DeviceBuffer, Error> {
            let mut bytes = buffer.to_vec()?;
            let at = at.index(bytes.len());
            bytes[at] = value;
            Ok(DeviceSlice::from_slice(&context(), &bytes)?.into_buffer())
        };
        if let Ok(stream) = serialize_stream(&batch.schema(), &batches, &context()) {
            drop(read_stream(&damaged(stream)?));
        }
        if let Ok(message) = serialize_record_batch(&batch, &context()) {
            drop(read_record_batch(&damaged(message)?, batch.schema()));
        }
    }
}

#[test]
fn a_dictionary_grows_and_is_replaced() {
    use arrow_array::types::Int8Type;
    use arrow_array::{Array, DictionaryArray, Int8Array, StringArray};
    use arrow_ipc::writer::{DictionaryHandling, IpcWriteOptions, StreamWriter};

    let values = |words: &[&str]| Arc::new(StringArray::from(words.to_vec()));
    let rows = |keys: Vec<i8>, words: &[&str]| {
        let column = DictionaryArray::<Int8Type>::new(Int8Array::from(keys), values(words));
        let fields = vec![field("x", column.data_type().clone(), false)];
        RecordBatch::try_new(Arc::new(Schema::new(fields)), vec![Arc::new(column)])
            .expect("a batch")
    };
    let batches =
        [rows(vec![0, 1], &["a", "b"]), rows(vec![2, 0], &["a", "b", "c"]), rows(vec![0], &["z"])];
    let options = IpcWriteOptions::default().with_dictionary_handling(DictionaryHandling::Delta);
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::try_new_with_options(&mut bytes, &batches[0].schema(), options)
        .expect("room");
    batches.iter().for_each(|batch| writer.write(batch).expect("room"));
    writer.finish().expect("room");
    drop(writer);
    let stream = DeviceSlice::from_slice(&context(), &bytes).expect("room").into_buffer();
    let (_, there) = read_device_stream(&stream).expect("a stream");
    let found = there.iter().map(|batch| batch.to_host().expect("valid"));
    assert_eq!(found.collect::<Vec<_>>(), batches);
}

/// The bytes of each message.
fn messages(mut stream: DeviceBuffer) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    while let Ok(message) = DeviceMessage::read(&stream) {
        let end = message.frame.body_offset() as usize + message.body.len();
        found.push(stream.slice(..end).and_then(|it| it.to_vec()).expect("within"));
        stream = stream.slice(end..).expect("within");
    }
    found
}

#[test]
fn a_dictionary_is_written_again_when_its_values_are_others() {
    let types = [DataType::Dictionary(DataType::Int8.into(), DataType::Utf8.into())];
    let there = |seed| {
        let batch = batch(&types, 5, &mut Dice(seed));
        DeviceRecordBatch::from_host(&context(), &batch).expect("room")
    };
    let (one, other) = (there(1), there(2));
    let count = |batches: &[DeviceRecordBatch]| {
        let stream = serialize_device_stream(one.schema_ref(), batches, &context());
        messages(stream.expect("room")).len()
    };
    let part = one.slice(1, 2).expect("within");
    // The schema, the values of dictionaries, and the batches.
    assert_eq!(count(&[one.clone(), part.clone()]), 1 + 1 + 2);
    assert_eq!(count(&[one.clone(), other, part]), 1 + 3 + 3);
}

#[test]
fn a_dictionary_may_follow_a_batch_of_nulls() {
    use arrow_array::types::Int32Type;
    use arrow_array::{Array, DictionaryArray};

    let nulls = [None::<&str>, None].into_iter().collect::<DictionaryArray<Int32Type>>();
    let schema = Arc::new(Schema::new(vec![field("x", nulls.data_type().clone(), true)]));
    let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(nulls)]).expect("a batch");
    let stream = serialize_stream(&schema, std::slice::from_ref(&batch), &context()).expect("room");
    let messages = messages(stream);
    let [first, dictionary, rows] = &messages[..] else { panic!("{}", messages.len()) };
    let bytes = [&first[..], rows, dictionary].concat();
    let stream = DeviceSlice::from_slice(&context(), &bytes).expect("room").into_buffer();
    assert_eq!(read_stream(&stream).expect("a stream"), (schema, vec![batch]));
}
