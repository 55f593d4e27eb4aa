//! A record batch that is copied into device memory as a message.

use crate::fault::Fault;
use crate::ffi::{BridgeApi, CppPayload};
use std::slice;

/// The IPC message of a `pyarrow.RecordBatch` whose data lies on the host, as ranges of memory:
/// most of them are the batch's own memory.
///
/// This owns the batch.  It must be dropped with the GIL held, since that may destroy Python
/// objects.
pub struct Payload {
    pub(crate) payload: *mut CppPayload,
    pub(crate) api: &'static BridgeApi,
}

// SAFETY: the border requires no particular thread, and `&mut self` allows one at a time.
unsafe impl Send for Payload {}

impl Payload {
    /// Lays out the message: the concatenation of these non-empty ranges.  Does not require the
    /// GIL.  Only copy from the ranges: other threads may write to the batch's memory meanwhile, as
    /// everywhere in Python.
    ///
    /// # Errors
    ///
    /// libarrow's errors for the batch, and [`Kind::Invalid`](crate::Kind::Invalid) if its offsets
    /// lead outside its data.
    pub fn ranges(&mut self) -> Result<Vec<&[u8]>, Fault> {
        // SAFETY: our own object.
        let found = unsafe { (self.api.payload_ranges)(self.payload) }.into_result()?;
        // SAFETY: a message has at least one range; they and their non-empty memory are valid until
        // the next call.
        Ok(unsafe {
            slice::from_raw_parts(found.first, found.count)
                .iter()
                .map(|range| slice::from_raw_parts(range.data, range.size))
                .collect()
        })
    }
}

impl Drop for Payload {
    fn drop(&mut self) {
        // SAFETY: our own object, released once.
        unsafe { (self.api.payload_release)(self.payload) };
    }
}
