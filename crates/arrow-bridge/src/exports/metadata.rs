//! The metadata of messages, for C++.

use super::buffers::host;
use crate::ffi::{MessageFacts, MessageKind};
use arrow_cuda_ipc::{self as ipc, Metadata};

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
        let kind = match metadata.kind {
            ipc::MessageKind::Schema { .. } => MessageKind::Schema,
            ipc::MessageKind::Dictionary { .. } => MessageKind::Dictionary,
            ipc::MessageKind::Batch => MessageKind::Batch,
            ipc::MessageKind::Other => MessageKind::Other,
        };
        Self {
            kind,
            body_size: metadata.body_length.cast_signed(),
            is_swapped: metadata.kind == ipc::MessageKind::Schema { is_swapped: true },
            is_delta: matches!(metadata.kind, ipc::MessageKind::Dictionary { is_delta: true, .. }),
            stays_on_device: metadata.stays_on_device(),
        }
    }
}
