//! Messages of files whose bodies are not read yet.

#[path = "common/columns.rs"]
mod columns;

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, RecordBatch, RecordBatchWriter};
use arrow_cuda_ipc::{BodyBuffer, Error, MessageIndex, PlainMessage, Source};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_ipc::{Buffer, Footer, MetadataVersion, root_as_footer, root_as_message};
use columns::columns;
use proptest::prelude::*;
use std::sync::Arc;

fn write(batches: &[RecordBatch], mut writer: impl RecordBatchWriter) {
    batches.iter().for_each(|batch| writer.write(batch).expect("memory takes all"));
    writer.close().expect("memory takes all");
}

fn written(batches: &[RecordBatch], is_file: bool) -> Vec<u8> {
    let schema = batches.first().map_or_else(|| columns(0).schema(), RecordBatch::schema);
    let mut bytes = Vec::new();
    match is_file {
        true => write(batches, FileWriter::try_new(&mut bytes, &schema).expect("a writer")),
        false => write(batches, StreamWriter::try_new(&mut bytes, &schema).expect("a writer")),
    }
    bytes
}

/// A stream of the messages, with bodies of the bytes that are found in `source`.
fn assembled(messages: &MessageIndex, source: &Source<'_>) -> Vec<u8> {
    let mut stream = Vec::new();
    for message in messages.all() {
        let (address, size) = message.body;
        let mut body = vec![0; size as usize];
        // libarrow verifies what a schema contains.
        let metadata = root_as_message(&message.metadata).ok();
        let batch = metadata.and_then(|metadata| metadata.header_as_record_batch());
        for buffer in batch.and_then(|batch| batch.buffers()).into_iter().flatten() {
            let (offset, size) = (buffer.offset() as u64, buffer.length() as u64);
            let found = messages.buffer(address + offset, size).expect("a buffer of a message");
            let place = &mut body[offset as usize..][..size as usize];
            source.read(found.position, place).expect("bytes of the file");
        }
        let padding = message.metadata.len().next_multiple_of(8) - message.metadata.len();
        let length = (message.metadata.len() + padding) as u32;
        stream.extend([[0xFF; 4], length.to_le_bytes()].concat());
        stream.extend(&message.metadata);
        stream.extend(vec![0; padding]);
        stream.extend(body);
    }
    stream
}

/// The buffers of all record batches, or why they cannot be read.
fn buffers_of(messages: &MessageIndex) -> Vec<Result<&BodyBuffer, Error>> {
    let of_message = |message: &PlainMessage| -> Vec<_> {
        let metadata = root_as_message(&message.metadata).ok();
        let batch = metadata.and_then(|metadata| metadata.header_as_record_batch());
        let buffers = batch.and_then(|batch| batch.buffers()).into_iter().flatten();
        let address = |buffer: &Buffer| message.body.0 + buffer.offset() as u64;
        buffers.map(|buffer| messages.buffer(address(buffer), buffer.length() as u64)).collect()
    };
    messages.all().iter().flat_map(of_message).collect()
}

/// A file of one batch, where the list of its arrays is, and where its second buffer is described.
fn file_and_lists() -> (Vec<u8>, [usize; 2]) {
    let bytes = written(&[columns(40)], true);
    let messages =
        MessageIndex::read(&Source::Memory(&bytes)).expect("a file").expect("a usual one");
    let batch =
        root_as_message(&messages.all()[1].metadata).expect("metadata").header_as_record_batch();
    let batch = batch.expect("a batch");
    let (nodes, buffers) = (batch.nodes().expect("arrays"), batch.buffers().expect("buffers"));
    let find = |wanted: &[u8]| {
        bytes.windows(wanted.len()).position(|found| found == wanted).expect("the first message")
    };
    let nodes = find(&[nodes.get(0).0, nodes.get(1).0].concat());
    let buffer = find(&[buffers.get(0).0, buffers.get(1).0].concat()) + 16;
    (bytes, [nodes, buffer])
}

#[test]
fn a_buffer_that_lies_outside_is_an_error_when_it_is_read() {
    let (bytes, [_, buffer]) = file_and_lists();
    for (place, number, told) in [
        (0, 1 << 20, "a buffer of 160 bytes at offset 1048576 lies outside the message's body of"),
        (0, 3, "a buffer begins at offset 3, which is not a multiple of 8"),
        (0, -8, "the message's buffer offset is -8"),
        (8, 1 << 62, "a buffer of 4611686018427387904 bytes at offset"),
        (8, -1, "the message's buffer length is -1"),
    ] {
        let mut damaged = bytes.clone();
        damaged[buffer + place..][..8].copy_from_slice(&i64::to_le_bytes(number));
        let read = MessageIndex::read(&Source::Memory(&damaged));
        let messages = read.expect("a file").expect("a usual one");
        let found = buffers_of(&messages).into_iter();
        let refused: Vec<_> = found.map(|buffer| buffer.err().map(|it| it.to_string())).collect();
        assert!(refused[1].as_ref().is_some_and(|it| it.starts_with(told)), "{refused:?}");
        assert_eq!(refused.iter().flatten().count(), 1);
    }
}

#[test]
fn libarrow_counts_nulls_that_nobody_has_counted() {
    let (mut bytes, [nodes, _]) = file_and_lists();
    bytes[nodes + 8..nodes + 16].copy_from_slice(&(-1i64).to_le_bytes());
    assert!(MessageIndex::read(&Source::Memory(&bytes)).expect("a file").is_none());
}

#[test]
fn a_footer_needs_no_version() {
    let (mut bytes, _) = file_and_lists();
    let expected =
        MessageIndex::read(&Source::Memory(&bytes)).expect("a file").expect("a usual one");
    let length = bytes.len() - 10;
    let size = u32::from_le_bytes(bytes[length..length + 4].try_into().expect("4 bytes")) as usize;
    let footer = root_as_footer(&bytes[length - size..length]).expect("a footer");
    let vtable = footer._tab.loc() as i32
        - i32::from_le_bytes(
            bytes[length - size + footer._tab.loc()..][..4].try_into().expect("4 bytes"),
        );
    let version = length - size + vtable as usize + usize::from(Footer::VT_VERSION);
    bytes[version..version + 2].fill(0);
    let footer = root_as_footer(&bytes[length - size..length]).expect("a footer");
    assert_eq!(footer.version(), MetadataVersion::V1);
    let read = MessageIndex::read(&Source::Memory(&bytes)).expect("a file").expect("a usual one");
    let schemas = [&read, &expected]
        .map(|messages| root_as_message(&messages.all()[0].metadata).expect("a schema").version());
    assert_eq!(schemas, [MetadataVersion::V5; 2]);
}

#[test]
fn lists_that_lead_to_messages_of_another_kind_are_damage() {
    let words: DictionaryArray<Int32Type> = ["a", "b", "a"].into_iter().collect();
    let batch = RecordBatch::try_from_iter([("words", Arc::new(words) as ArrayRef)]);
    let bytes = written(&[batch.expect("one column")], true);
    MessageIndex::read(&Source::Memory(&bytes)).expect("a file").expect("a usual one");

    let number = |bytes: &[u8], at: usize| {
        u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes")) as usize
    };
    let length = bytes.len() - 10;
    let footer = length - number(&bytes, length);
    let table = footer + number(&bytes, footer);
    let fields = table - number(&bytes, table);
    let [dictionaries, batches] = [Footer::VT_DICTIONARIES, Footer::VT_RECORDBATCHES]
        .map(|field| fields + usize::from(field));
    for list in [dictionaries, batches] {
        let mut damaged = bytes.clone();
        let other = if list == batches { dictionaries } else { batches };
        damaged.copy_within(other..other + 2, list);
        let read = MessageIndex::read(&Source::Memory(&damaged));
        let told = "where a message of another kind begins";
        assert!(matches!(&read, Err(Error::Message(text)) if text.ends_with(told)), "{read:?}");
    }
}

proptest! {
    #[test]
    fn the_bytes_of_all_buffers_are_found(
        rows in proptest::collection::vec(0..300_usize, 0..5),
        is_file: bool,
    ) {
        let batches: Vec<_> = rows.into_iter().map(columns).collect();
        let bytes = written(&batches, is_file);
        let source = Source::Memory(&bytes);
        let messages = MessageIndex::read(&source).expect("a file").expect("a usual one");
        let stream = assembled(&messages, &source);
        let read = StreamReader::try_new(&stream[..], None).expect("a stream");
        prop_assert_eq!(read.collect::<Result<Vec<_>, _>>().expect("batches"), batches);
    }

    #[test]
    fn no_damage_leads_out_of_the_file(
        is_file: bool,
        place in any::<prop::sample::Index>(),
        byte: u8,
        size in any::<prop::sample::Index>(),
    ) {
        let mut bytes = written(&[columns(7)], is_file);
        *place.get_mut(&mut bytes) = byte;
        bytes.truncate(bytes.len() - size.index(bytes.len()) / 8);
        if let Ok(Some(messages)) = MessageIndex::read(&Source::Memory(&bytes)) {
            for buffer in buffers_of(&messages).into_iter().flatten() {
                prop_assert!(buffer.position + buffer.encoded_size <= bytes.len() as u64);
            }
        }
    }
}
