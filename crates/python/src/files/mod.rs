//! Device buffers as files.

pub(crate) mod reader;
mod source;
pub(crate) mod writer;
