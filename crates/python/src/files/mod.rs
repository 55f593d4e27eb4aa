//! Device buffers as files.

pub(crate) mod reader;
pub(crate) mod writer;
