//! The metadata of a message that holds arrays: a record batch, or the values of a dictionary.

use arrow_ipc::{
    Buffer, DictionaryBatch, DictionaryBatchArgs, FieldNode, Message, MessageArgs, MessageHeader,
    MetadataVersion, RecordBatch, RecordBatchArgs,
};
use flatbuffers::FlatBufferBuilder;

/// The description of the arrays in a body without compression.
pub(crate) struct Arrays {
    pub(crate) length: i64,
    pub(crate) nodes: Vec<FieldNode>,
    pub(crate) buffers: Vec<Buffer>,
    /// Of each array of views, the number of buffers that the views lead to.
    pub(crate) view_buffers: Option<Vec<i64>>,
    pub(crate) body_length: u64,
}

/// The dictionary whose values the arrays are.
#[derive(Clone, Copy)]
pub(crate) struct Dictionary {
    pub(crate) id: i64,
    pub(crate) is_delta: bool,
}

impl Arrays {
    /// The metadata of a message with the arrays, as a flatbuffer.
    pub(crate) fn encode(
        &self,
        version: MetadataVersion,
        dictionary: Option<Dictionary>,
    ) -> Vec<u8> {
        let mut builder = FlatBufferBuilder::new();
        let counts = self.view_buffers.as_ref();
        let args = RecordBatchArgs {
            length: self.length,
            nodes: Some(builder.create_vector(&self.nodes)),
            buffers: Some(builder.create_vector(&self.buffers)),
            compression: None,
            variadicBufferCounts: counts.map(|counts| builder.create_vector(counts)),
        };
        let batch = RecordBatch::create(&mut builder, &args);
        let (header_type, header) = match dictionary {
            None => (MessageHeader::RecordBatch, batch.as_union_value()),
            Some(Dictionary { id, is_delta }) => {
                let args = DictionaryBatchArgs { id, data: Some(batch), isDelta: is_delta };
                let made = DictionaryBatch::create(&mut builder, &args);
                (MessageHeader::DictionaryBatch, made.as_union_value())
            }
        };
        let args = MessageArgs {
            version,
            header_type,
            header: Some(header),
            bodyLength: self.body_length.cast_signed(),
            custom_metadata: None,
        };
        let message = Message::create(&mut builder, &args);
        builder.finish(message, None);
        builder.finished_data().to_vec()
    }
}
