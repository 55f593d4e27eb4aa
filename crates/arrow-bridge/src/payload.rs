//! A record batch on its way into device memory.

use crate::fault::Fault;
use crate::ffi::{BridgeApi, CppPayload, Failure, Object};
use std::{ptr, slice};

/// A `pyarrow.RecordBatch`, whose data lies on the host, as an IPC message in parts: most of them
/// are the batch's own memory.
///
/// The batch is kept as long as this lives.  It has to be dropped with the GIL held, for Python
/// objects may go with it.
pub struct Payload {
    payload: *mut CppPayload,
    api: &'static BridgeApi,
}

// SAFETY: the border asks for no particular thread, and `&mut self` sees to one at a time.
unsafe impl Send for Payload {}

impl Payload {
    /// # Safety
    ///
    /// As [`Bridge::payload`](crate::Bridge::payload).
    pub(crate) unsafe fn open(api: &'static BridgeApi, batch: Object) -> Result<Self, Fault> {
        let mut failure = Failure::none();
        // SAFETY: the caller's promise.
        let payload = unsafe { (api.payload_open)(batch, &raw mut failure) };
        if payload.is_null() { Err(failure.into_fault()) } else { Ok(Self { payload, api }) }
    }

    /// Lays out the message, the concatenation of these parts; none of them is empty.  Wants no
    /// GIL.  The parts are only to be copied from: others may write to the batch's memory
    /// meanwhile, as everywhere in Python.
    ///
    /// # Errors
    ///
    /// What libarrow finds wrong with the batch, and [`Kind::Invalid`](crate::Kind::Invalid) where
    /// its offsets lead outside its data.
    pub fn parts(&mut self) -> Result<Vec<&[u8]>, Fault> {
        let mut failure = Failure::none();
        let mut parts = ptr::null();
        let mut count = 0;
        // SAFETY: our own object, and places for the results.
        let is_done = unsafe {
            (self.api.payload_parts)(self.payload, &raw mut parts, &raw mut count, &raw mut failure)
        };
        if !is_done {
            return Err(failure.into_fault());
        }
        // SAFETY: a message has a first part, so there are `count` of them; like the memory they
        // name, which is not empty, they stay until the next call.
        Ok(unsafe {
            slice::from_raw_parts(parts, count)
                .iter()
                .map(|part| slice::from_raw_parts(part.data, part.size))
                .collect()
        })
    }
}

impl Drop for Payload {
    fn drop(&mut self) {
        // SAFETY: our own object, given back once.
        unsafe { (self.api.payload_release)(self.payload) };
    }
}
