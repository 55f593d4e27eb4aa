//! The parts of a message's metadata and a file's footer that this crate reads, verified.
//!
//! This module is as strict as libarrow's verification.  arrow-ipc's own refuses what libarrow accepts: texts that are
//! not UTF-8, and lists of numbers that begin between two multiples of 8.  Texts are verified as bytes here, and the
//! fields of a schema are left to libarrow.

use arrow_ipc::{
    Block, BodyCompression, Buffer, DictionaryBatch, Endianness, FieldNode, Footer, KeyValue,
    Message, MessageHeader, MetadataVersion, RecordBatch, Schema, root_as_footer_unchecked,
    root_as_message_unchecked,
};
use flatbuffers::{
    ForwardsUOffset, InvalidFlatbuffer, Vector, Verifiable, Verifier, VerifierOptions,
};
use std::marker::PhantomData;

/// The header of a message.
pub(crate) enum Header<'a> {
    Schema(Endianness),
    Dictionary(DictionaryBatch<'a>),
    Batch(RecordBatch<'a>),
    /// A tensor, something newer, or nothing.
    Other,
}

/// The parts of a message's metadata that this crate reads.
pub(crate) struct Outline<'a> {
    pub(crate) header: Header<'a>,
    pub(crate) body_length: i64,
    pub(crate) version: MetadataVersion,
    pub(crate) has_custom_metadata: bool,
}

impl<'a> Outline<'a> {
    /// The first writers with compression recorded it in the custom metadata of version 4.
    pub(crate) fn is_early_version(&self) -> bool {
        self.version == MetadataVersion::V4 && self.has_custom_metadata
    }

    pub(crate) fn of(metadata: &'a [u8]) -> Result<Self, InvalidFlatbuffer> {
        verify::<MessageParts>(metadata)?;
        // SAFETY: everything that is read below was verified; no text and no field of a schema is
        // read.
        let message = unsafe { root_as_message_unchecked(metadata) };
        let header = match message.header_type() {
            MessageHeader::Schema => {
                message.header_as_schema().map(|it| Header::Schema(it.endianness()))
            }
            MessageHeader::DictionaryBatch => {
                message.header_as_dictionary_batch().map(Header::Dictionary)
            }
            MessageHeader::RecordBatch => message.header_as_record_batch().map(Header::Batch),
            _ => None,
        };
        Ok(Self {
            header: header.unwrap_or(Header::Other),
            body_length: message.bodyLength(),
            version: message.version(),
            has_custom_metadata: message.custom_metadata().is_some(),
        })
    }
}

/// The byte order of a file's batches; `None` if the footer has no schema.
pub(crate) fn byte_order(footer: &[u8]) -> Result<Option<Endianness>, InvalidFlatbuffer> {
    verify::<FooterParts>(footer)?;
    // SAFETY: the schema's position and its byte order were verified; nothing else is read.
    let schema = unsafe { root_as_footer_unchecked(footer) }.schema();
    Ok(schema.map(|schema| schema.endianness()))
}

/// Where a message of a file is, as its footer says.
pub(crate) struct MessageLocation {
    /// Where it begins, in bytes; beyond the end of any file if that is negative.
    pub(crate) position: u64,
    /// The bytes before its body.
    pub(crate) body_offset: i64,
    pub(crate) body_length: i64,
}

/// Where a file's messages are: first the dictionaries, then the record batches.
pub(crate) fn blocks(footer: &[u8]) -> Result<[Vec<MessageLocation>; 2], InvalidFlatbuffer> {
    verify::<FooterParts>(footer)?;
    // SAFETY: as above, and both lists were verified.
    let footer = unsafe { root_as_footer_unchecked(footer) };
    let place = |block: &Block| MessageLocation {
        position: u64::try_from(block.offset()).unwrap_or(u64::MAX),
        body_offset: block.metaDataLength().into(),
        body_length: block.bodyLength(),
    };
    Ok([footer.dictionaries(), footer.recordBatches()]
        .map(|list| list.into_iter().flatten().map(place).collect()))
}

/// A message with the schema of a file, whose footer it is made of: a table that points into the footer.  libarrow
/// verifies the schema's fields.  It reads no version of a footer, which may lack one, so the message has the newest.
pub(crate) fn schema_message(footer: &[u8]) -> Result<Vec<u8>, InvalidFlatbuffer> {
    /// The message's position; then its table of fields: their sizes, and where the version, the type of the
    /// header and the header's position are in it; then the message, as far as the header's position.
    const BEGIN: [u8; 20] = [16, 0, 0, 0, 10, 0, 12, 0, 8, 0, 10, 0, 4, 0, 0, 0, 12, 0, 0, 0];
    /// The type of the header and padding, after the version.
    const END: [u8; 6] = [1, 0, 0, 0, 0, 0];
    const FROM_HEADER_TO_FOOTER: usize = 12;
    verify::<FooterParts>(footer)?;
    // SAFETY: the schema's position was verified; nothing else is read.
    let schema = unsafe { root_as_footer_unchecked(footer) }.schema();
    let schema = schema.map_or(0, |schema| schema._tab.loc());
    let header = ((FROM_HEADER_TO_FOOTER + schema) as u32).to_le_bytes();
    let version = MetadataVersion::V5.0.to_le_bytes();
    Ok([&BEGIN[..], &header, &version, &END, footer].concat())
}

fn verify<T: Verifiable>(bytes: &[u8]) -> Result<(), InvalidFlatbuffer> {
    let options = VerifierOptions::default();
    <ForwardsUOffset<T>>::run_verifier(&mut Verifier::new(&options, bytes), 0)
}

struct MessageParts;

impl Verifiable for MessageParts {
    fn run_verifier(verifier: &mut Verifier<'_, '_>, at: usize) -> Result<(), InvalidFlatbuffer> {
        verifier
            .visit_table(at)?
            .visit_field::<MetadataVersion>("version", Message::VT_VERSION, false)?
            .visit_union::<MessageHeader, _>(
                "header_type",
                Message::VT_HEADER_TYPE,
                "header",
                Message::VT_HEADER,
                false,
                |header, verifier, at| match header {
                    MessageHeader::Schema => {
                        <ForwardsUOffset<SchemaParts>>::run_verifier(verifier, at)
                    }
                    MessageHeader::DictionaryBatch => {
                        <ForwardsUOffset<DictionaryParts>>::run_verifier(verifier, at)
                    }
                    MessageHeader::RecordBatch => {
                        <ForwardsUOffset<BatchParts>>::run_verifier(verifier, at)
                    }
                    _ => Ok(()),
                },
            )?
            .visit_field::<i64>("bodyLength", Message::VT_BODYLENGTH, false)?
            .visit_field::<TableVector<KeyValueParts>>(
                "custom_metadata",
                Message::VT_CUSTOM_METADATA,
                false,
            )?
            .finish();
        Ok(())
    }
}

/// A field that must not refer to itself, which would pass for an empty list.
struct Elsewhere<T>(PhantomData<T>);

impl<T: Verifiable> Verifiable for Elsewhere<T> {
    fn run_verifier(verifier: &mut Verifier<'_, '_>, at: usize) -> Result<(), InvalidFlatbuffer> {
        if verifier.get_uoffset(at)? == 0 {
            return InvalidFlatbuffer::new_missing_required("what a field refers to");
        }
        <ForwardsUOffset<T>>::run_verifier(verifier, at)
    }
}

/// A list of numbers of 8 bytes, which may begin anywhere: libarrow asks only for its length at a multiple of 4.
struct Numbers;

impl Verifiable for Numbers {
    fn run_verifier(verifier: &mut Verifier<'_, '_>, at: usize) -> Result<(), InvalidFlatbuffer> {
        let count = verifier.get_uoffset(at)? as usize;
        verifier.range_in_buffer(at.saturating_add(size_of::<u32>()), count.saturating_mul(8))
    }
}

type Blocks = Elsewhere<Vector<'static, Block>>;
type TableVector<T> = ForwardsUOffset<Vector<'static, ForwardsUOffset<T>>>;
type ByteString = ForwardsUOffset<Vector<'static, u8>>;

/// Parts of a table: the names, types and places of its fields.
macro_rules! parts {
    ($($parts:ident { $($name:literal: $field:ty = $place:expr,)* })*) => {$(
        struct $parts;

        impl Verifiable for $parts {
            fn run_verifier(verifier: &mut Verifier<'_, '_>, at: usize) -> Result<(), InvalidFlatbuffer> {
                let table = verifier.visit_table(at)?;
                table$(.visit_field::<$field>($name, $place, false)?)*.finish();
                Ok(())
            }
        }
    )*};
}

parts! {
    DictionaryParts {
        "id": i64 = DictionaryBatch::VT_ID,
        "data": ForwardsUOffset<BatchParts> = DictionaryBatch::VT_DATA,
        "isDelta": bool = DictionaryBatch::VT_ISDELTA,
    }
    BatchParts {
        "length": i64 = RecordBatch::VT_LENGTH,
        "nodes": ForwardsUOffset<Vector<'static, FieldNode>> = RecordBatch::VT_NODES,
        "buffers": ForwardsUOffset<Vector<'static, Buffer>> = RecordBatch::VT_BUFFERS,
        "compression": ForwardsUOffset<BodyCompression<'static>> = RecordBatch::VT_COMPRESSION,
        "variadicBufferCounts": ForwardsUOffset<Numbers> = RecordBatch::VT_VARIADICBUFFERCOUNTS,
    }
    FooterParts {
        "schema": Elsewhere<SchemaParts> = Footer::VT_SCHEMA,
        "dictionaries": Blocks = Footer::VT_DICTIONARIES,
        "recordBatches": Blocks = Footer::VT_RECORDBATCHES,
    }
    SchemaParts {
        "endianness": Endianness = Schema::VT_ENDIANNESS,
    }
    KeyValueParts {
        "key": ByteString = KeyValue::VT_KEY,
        "value": ByteString = KeyValue::VT_VALUE,
    }
}
