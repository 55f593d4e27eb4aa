//! The metadata of messages, for C++.

use super::buffers::host;
use crate::ffi::MessageFacts;
use arrow_cuda_ipc::Metadata;

pub(super) unsafe extern "C" fn message_facts(
    metadata: *const u8,
    size: usize,
    is_footer: bool,
) -> MessageFacts {
    // SAFETY: `size` readable bytes.
    let bytes = unsafe { host(metadata.cast(), size as i64) }.unwrap_or_default();
    let parsed = if is_footer { Metadata::parse_footer(bytes) } else { Metadata::parse(bytes) };
    parsed.map_or(MessageFacts::UNREADABLE, |metadata| MessageFacts::of(&metadata))
}
