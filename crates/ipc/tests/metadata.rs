//! Parsed metadata against messages that are built field by field.

use arrow_cuda_ipc::{Error, MessageKind, Metadata};
use arrow_ipc::{
    BodyCompression, BodyCompressionArgs, Buffer, CompressionType, DictionaryBatch,
    DictionaryBatchArgs, Endianness, FieldNode, Footer, FooterArgs, KeyValue, KeyValueArgs,
    Message, MessageArgs, MessageHeader, MetadataVersion, RecordBatch, RecordBatchArgs, Schema,
    SchemaArgs, root_as_message,
};
use flatbuffers::{FlatBufferBuilder, ForwardsUOffset, Vector, WIPOffset};
use proptest::collection::vec;
use proptest::prelude::*;

type Builder = FlatBufferBuilder<'static>;

/// All fields of a message with columns, whether valid or not.
#[derive(Clone, Debug)]
struct Described {
    body_length: i64,
    rows: i64,
    nodes: Vec<(i64, i64)>,
    buffers: Vec<(i64, i64)>,
    variadic: Vec<i64>,
    is_compressed: bool,
    version: MetadataVersion,
    custom: Option<Vec<u8>>,
}

impl Described {
    fn is_valid(&self) -> bool {
        self.rows >= 0
            && self
                .nodes
                .iter()
                .all(|&(length, nulls)| length >= 0 && -1 <= nulls && nulls <= length)
            && self.variadic.iter().all(|count| *count >= 0)
    }

    fn is_counted(&self) -> bool {
        self.nodes.iter().all(|(_, nulls)| *nulls != -1)
    }

    fn counts_as_compressed(&self) -> bool {
        self.is_compressed || (self.version == MetadataVersion::V4 && self.custom.is_some())
    }

    /// The metadata of this batch, or of a dictionary with these values.
    fn written(&self, is_delta: Option<bool>) -> Vec<u8> {
        let mut builder = Builder::new();
        let nodes: Vec<_> = self.nodes.iter().map(|at| FieldNode::new(at.0, at.1)).collect();
        let buffers: Vec<_> = self.buffers.iter().map(|at| Buffer::new(at.0, at.1)).collect();
        let batch = RecordBatchArgs {
            length: self.rows,
            nodes: Some(builder.create_vector(&nodes)),
            buffers: Some(builder.create_vector(&buffers)),
            compression: self.is_compressed.then(|| {
                let codec = BodyCompressionArgs { codec: CompressionType::ZSTD, ..<_>::default() };
                BodyCompression::create(&mut builder, &codec)
            }),
            variadicBufferCounts: Some(builder.create_vector(&self.variadic)),
        };
        let batch = RecordBatch::create(&mut builder, &batch);
        let (header_type, header) = match is_delta {
            None => (MessageHeader::RecordBatch, batch.as_union_value()),
            Some(is_delta) => {
                let values = DictionaryBatchArgs { id: 1, data: Some(batch), isDelta: is_delta };
                let values = DictionaryBatch::create(&mut builder, &values);
                (MessageHeader::DictionaryBatch, values.as_union_value())
            }
        };
        let custom = self.custom.as_deref().map(|text| key_values(&mut builder, text));
        let message = MessageArgs {
            version: self.version,
            header_type,
            header: Some(header),
            bodyLength: self.body_length,
            custom_metadata: custom,
        };
        let message = Message::create(&mut builder, &message);
        finished(builder, message)
    }
}

/// The same batch with its numbers of further buffers at its end, between two multiples of 8.
fn with_moved_counts(mut bytes: Vec<u8>) -> Vec<u8> {
    let message = root_as_message(&bytes).expect("a message");
    let dictionary = message.header_as_dictionary_batch().and_then(|values| values.data());
    let batch = message.header_as_record_batch().or(dictionary).expect("a batch");
    let place = batch._tab.vtable().get(RecordBatch::VT_VARIADICBUFFERCOUNTS);
    let field = batch._tab.loc() + usize::from(place);
    let counts: Vec<i64> = batch.variadicBufferCounts().into_iter().flatten().collect();
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    let offset = (bytes.len() - field) as u32;
    bytes[field..field + 4].copy_from_slice(&offset.to_le_bytes());
    bytes.extend((counts.len() as u32).to_le_bytes());
    bytes.extend(counts.into_iter().flat_map(i64::to_le_bytes));
    bytes
}

fn finished<T>(mut builder: Builder, root: WIPOffset<T>) -> Vec<u8> {
    builder.finish(root, None);
    builder.finished_data().to_vec()
}

/// One key with a value, both of these bytes, which need not be text.
fn key_values(
    builder: &mut Builder,
    bytes: &[u8],
) -> WIPOffset<Vector<'static, ForwardsUOffset<KeyValue<'static>>>> {
    let text = WIPOffset::new(builder.create_byte_string(bytes).value());
    let pair = KeyValue::create(builder, &KeyValueArgs { key: Some(text), value: Some(text) });
    builder.create_vector(&[pair])
}

fn schema(builder: &mut Builder, order: Endianness, text: &[u8]) -> WIPOffset<Schema<'static>> {
    let custom = Some(key_values(builder, text));
    let schema = SchemaArgs { endianness: order, custom_metadata: custom, ..<_>::default() };
    Schema::create(builder, &schema)
}

prop_compose! {
    /// Numbers close to valid ones.
    fn described()(
        body_length in 0..256i64,
        rows in -1..50i64,
        nodes in vec((-1..50i64, -2..20i64), 0..3),
        buffers in vec(((-1..40i64).prop_map(|at| at * 8), -1..80i64), 0..3),
        shift in prop_oneof![9 => Just(0), 1 => 1..8i64],
        variadic in vec(-1..20i64, 0..2),
        is_compressed: bool,
        is_early: bool,
        custom: Option<Vec<u8>>,
    ) -> Described {
        let buffers = buffers.into_iter().map(|(at, length)| (at + shift, length)).collect();
        let version = if is_early { MetadataVersion::V4 } else { MetadataVersion::V5 };
        Described { body_length, rows, nodes, buffers, variadic, is_compressed, version, custom }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn all_fields_of_a_batch_are_read(told in described(), is_delta: Option<bool>) {
        let metadata = Metadata::parse(&told.written(is_delta))?;
        let kind = match is_delta {
            None => MessageKind::Batch,
            Some(is_delta) => MessageKind::Dictionary { id: 1, is_delta },
        };
        prop_assert_eq!(metadata.kind, kind);
        prop_assert_eq!(metadata.body_length, told.body_length.cast_unsigned());
        prop_assert_eq!(metadata.is_compressed(), told.counts_as_compressed());
        prop_assert_eq!(metadata.check(metadata.body_length).is_ok(), told.is_valid());
        prop_assert_eq!(metadata.is_counted(), told.is_counted());
        prop_assert_eq!(
            metadata.stays_on_device(),
            told.is_valid() && told.is_counted() && !told.counts_as_compressed()
        );
        if let Some(less) = metadata.body_length.checked_sub(1) {
            prop_assert!(matches!(metadata.check(less), Err(Error::Unreadable(_))));
        }
    }

    /// As those of Polars 1.0 to 1.30, which libarrow reads and arrow-ipc does not.
    #[test]
    fn numbers_may_begin_anywhere(told in described(), is_delta: Option<bool>) {
        let bytes = Described { custom: None, ..told }.written(is_delta);
        let moved = with_moved_counts(bytes.clone());
        prop_assert!(root_as_message(&moved).is_err());
        prop_assert_eq!(Metadata::parse(&moved)?, Metadata::parse(&bytes)?);
        let cut_off = moved.len() - 1;
        prop_assert!(Metadata::parse(&moved[..cut_off]).is_err());
    }

    #[test]
    fn any_texts_leave_the_byte_order_readable(
        order in prop_oneof![Just(Endianness::Little), Just(Endianness::Big)],
        text: Vec<u8>,
    ) {
        let kind = MessageKind::Schema { is_swapped: order == Endianness::Big };
        let mut builder = Builder::new();
        let header = schema(&mut builder, order, &text).as_union_value();
        let message = MessageArgs { header_type: MessageHeader::Schema, header: Some(header), ..<_>::default() };
        let message = Message::create(&mut builder, &message);
        let metadata = Metadata::parse(&finished(builder, message))?;
        prop_assert_eq!(metadata.kind, kind);
        prop_assert!(!metadata.stays_on_device());

        let mut builder = Builder::new();
        let schema = Some(schema(&mut builder, order, &text));
        let footer = Footer::create(&mut builder, &FooterArgs { schema, ..<_>::default() });
        prop_assert_eq!(Metadata::parse_footer(&finished(builder, footer))?.kind, kind);
    }

    /// arrow-ipc's own verification checks more, and is right if it accepts a message.
    #[test]
    fn damage_is_read_as_arrow_reads_it(
        told in described(),
        is_delta: Option<bool>,
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
    ) {
        let mut bytes = told.written(is_delta);
        for (at, value) in damage {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let read = Metadata::parse(&bytes);
        if let Ok(message) = root_as_message(&bytes) {
            prop_assert_eq!(read.is_ok(), message.bodyLength() >= 0);
            if let Ok(read) = read {
                prop_assert_eq!(read.body_length, message.bodyLength().cast_unsigned());
                let values = message.header_as_dictionary_batch();
                let delta = values.map(|values| values.isDelta());
                let kind = match message.header_type() {
                    MessageHeader::RecordBatch => MessageKind::Batch,
                    MessageHeader::DictionaryBatch => {
                        let id = values.map_or(0, |values| values.id());
                        MessageKind::Dictionary { id, is_delta: delta == Some(true) }
                    }
                    MessageHeader::Schema => read.kind,
                    _ => MessageKind::Other,
                };
                prop_assert_eq!(read.kind, kind);
            }
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
        let _ = Metadata::parse(&bytes);
        let _ = Metadata::parse_footer(&bytes);
    }
}

#[test]
fn a_dictionary_without_values_is_refused_as_a_whole() {
    let mut builder = Builder::new();
    let values = DictionaryBatch::create(&mut builder, &DictionaryBatchArgs::default());
    let message = MessageArgs {
        header_type: MessageHeader::DictionaryBatch,
        header: Some(values.as_union_value()),
        ..<_>::default()
    };
    let message = Message::create(&mut builder, &message);
    let metadata = Metadata::parse(&finished(builder, message)).expect("a dictionary");
    assert!(!metadata.stays_on_device());
    let refused = metadata.check(0).expect_err("no values");
    assert_eq!(refused.to_string(), "the message's header is missing");
}

#[test]
fn a_footer_without_a_schema_is_refused() {
    let mut builder = Builder::new();
    let footer = Footer::create(&mut builder, &FooterArgs::default());
    let refused = Metadata::parse_footer(&finished(builder, footer)).expect_err("no schema");
    assert_eq!(refused.to_string(), "the footer has no schema");
}
