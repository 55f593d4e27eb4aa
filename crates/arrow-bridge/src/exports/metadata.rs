//! The metadata of messages, for C++.

use super::buffers::host;
use crate::ffi::{MessageFacts, MessageKind};
use arrow_cuda_ipc::{Content, Metadata};

exported! {
    /// Reads the metadata of an IPC message, or the footer of an IPC file as if it were a schema
    /// message.
    answer message_facts(metadata: *const u8, size: usize, is_footer: bool) -> MessageFacts {
        // SAFETY: `size` readable bytes.
        let bytes = unsafe { host(metadata.cast(), size as i64) }.unwrap_or_default();
        let parsed = if is_footer { Metadata::parse_footer(bytes) } else { Metadata::parse(bytes) };
        parsed.map_or(MessageFacts::UNREADABLE, |metadata| MessageFacts::of(&metadata))
    }
}

impl MessageFacts {
    /// The message is unreadable, so assume the worst.
    pub(crate) const UNREADABLE: Self = Self {
        kind: MessageKind::Unreadable,
        body_size: 0,
        is_swapped: true,
        is_delta: true,
        stays_on_device: false,
    };

    pub(crate) fn of(metadata: &Metadata) -> Self {
        let kind = match metadata.content {
            Content::Schema { .. } => MessageKind::Schema,
            Content::Dictionary { .. } => MessageKind::Dictionary,
            Content::Batch => MessageKind::Batch,
            Content::Other => MessageKind::Other,
        };
        Self {
            kind,
            body_size: metadata.body_length.cast_signed(),
            is_swapped: metadata.content == Content::Schema { is_swapped: true },
            is_delta: matches!(metadata.content, Content::Dictionary { is_delta: true, .. }),
            stays_on_device: metadata.stays_on_device(),
        }
    }
}
