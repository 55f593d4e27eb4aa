//! Messages in device memory.

use super::{Bridge, filled, made};
use crate::fault::Fault;
use crate::ffi::{MessageFacts, Object};
use crate::payload::Payload;
use arrow_cuda_ipc::DeviceMessage;
use std::ptr;

impl Bridge {
    /// The IPC message of a `pyarrow.RecordBatch` whose data lies on the host.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`](crate::Kind::Type) for another object, and for an uninitialised one.
    ///
    /// # Safety
    ///
    /// The object must be live.  The GIL must be held, and again when the result is dropped.
    pub unsafe fn payload(&self, batch: Object) -> Result<Payload, Fault> {
        // SAFETY: guaranteed by the caller.
        unsafe { Payload::open(self.api, batch) }
    }

    /// A new reference to the `pyarrow.RecordBatch` of a message in device memory, which `buffer`
    /// holds.  Each of its buffers is checked to be as long as its array demands.  The data stays
    /// on the device, unless it is compressed: then the batch lies on the host.  `memo` is a
    /// `pyarrow.DictionaryMemo` with the values of dictionaries.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`](crate::Kind::Type) for another `buffer` or `schema`; libarrow's errors for
    /// the metadata; [`Kind::Invalid`](crate::Kind::Invalid), which names the column, for a buffer
    /// that is too short.
    ///
    /// # Safety
    ///
    /// The objects must be live, and `memo` must be of its class; the GIL must be held.
    pub unsafe fn read_batch(
        &self,
        buffer: Object,
        schema: Object,
        memo: Option<Object>,
        message: DeviceMessage,
    ) -> Result<Object, Fault> {
        let memo = memo.unwrap_or(ptr::null_mut());
        let (metadata, facts) = (&message.metadata, MessageFacts::of(&message.facts));
        let (data, size) = (metadata.as_ptr(), metadata.len());
        let body = Box::into_raw(Box::new(message.body));
        let read = |failure| {
            // SAFETY: guaranteed by the caller; metadata and facts are read during the call only, and
            // the body is handed over.
            unsafe {
                let facts = &raw const facts;
                (self.api.read_batch)(buffer, schema, memo, data, size, facts, body, failure)
            }
        };
        made(read)
    }

    /// Gives a `pyarrow.NativeFile` of [`init_reader`](Self::init_reader) the message at
    /// `position`, which was read and checked already, so that pyarrow does not read it again.  It
    /// is valid until [`forget_message`](Self::forget_message).
    ///
    /// # Errors
    ///
    /// [`Kind::Type`](crate::Kind::Type) for another object.
    ///
    /// # Safety
    ///
    /// The object must be live; the GIL must be held.
    pub unsafe fn expect_message(
        &self,
        reader: Object,
        position: u64,
        message: &DeviceMessage,
    ) -> Result<(), Fault> {
        let (metadata, facts) = (&message.metadata, MessageFacts::of(&message.facts));
        let (data, size) = (metadata.as_ptr(), metadata.len());
        let position = (position + message.frame.metadata_offset).cast_signed();
        let told = |failure| {
            // SAFETY: guaranteed by the caller; metadata and facts are read during the call only.
            unsafe {
                let facts = &raw const facts;
                (self.api.expect_metadata)(reader, position, data, size, facts, failure)
            }
        };
        filled(told)
    }

    /// Discards the message of [`expect_message`](Self::expect_message): the file reads it itself
    /// again.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`](crate::Kind::Type) for another object.
    ///
    /// # Safety
    ///
    /// The object must be live; the GIL must be held.
    pub unsafe fn forget_message(&self, reader: Object) -> Result<(), Fault> {
        let (data, facts) = (ptr::null(), ptr::null());
        // SAFETY: guaranteed by the caller.
        unsafe { filled(|failure| (self.api.expect_metadata)(reader, 0, data, 0, facts, failure)) }
    }
}
