//! Messages in device memory, and record batches that are copied there as messages.

use super::Bridge;
use crate::fault::{Fault, done};
use crate::ffi::{BridgeApi, CppPayload, MessageFacts};
use crate::object_ref::{Object, ObjectRef};
use arrow_cuda_ipc::DeviceMessage;
use std::{ptr, slice};

impl Bridge {
    /// The IPC message of a `pyarrow.RecordBatch` whose data lies on the host.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`](crate::Kind::Type) for another object, and for an uninitialised one.
    ///
    /// # Safety
    ///
    /// The GIL must be held when the result is dropped.
    pub unsafe fn payload(&self, batch: ObjectRef<'_>) -> Result<Payload, Fault> {
        let payload = (self.api.payload_open)(batch).into_result()?;
        Ok(Payload { payload, api: self.api })
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
    /// `memo` must be of its class.
    pub unsafe fn read_batch(
        &self,
        buffer: ObjectRef<'_>,
        schema: ObjectRef<'_>,
        memo: Option<ObjectRef<'_>>,
        message: DeviceMessage,
    ) -> Result<Object, Fault> {
        let memo = memo.map_or(ptr::null_mut(), ObjectRef::as_ptr);
        let (metadata, facts) = (&message.metadata, MessageFacts::of(&message.facts));
        let (data, size, body) = (metadata.as_ptr(), metadata.len(), Box::new(message.body));
        // SAFETY: guaranteed by the caller; the metadata is read during the call only.
        unsafe { (self.api.read_batch)(buffer, schema, memo, data, size, &facts, body) }
            .into_result()
    }

    /// Runs pyarrow's own code over a file with a reader, which meanwhile has the
    /// message at `position`: it was read and checked already, so that pyarrow does not read it again.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`](crate::Kind::Type) for another file.
    ///
    /// # Safety
    ///
    /// The object must be a `pyarrow.NativeFile`.
    pub unsafe fn with_message<T>(
        &self,
        file: ObjectRef<'_>,
        position: u64,
        message: &DeviceMessage,
        read: impl FnOnce() -> T,
    ) -> Result<T, Fault> {
        let facts = MessageFacts::of(&message.facts);
        let (data, size) = (message.metadata.as_ptr(), message.metadata.len());
        let position = (position + message.frame.metadata_offset).cast_signed();
        let expect = |position, data, size, facts| {
            // SAFETY: guaranteed by the caller; the metadata is read during the call only.
            done(unsafe { (self.api.expect_metadata)(file, position, data, size, facts) })
        };
        expect(position, data, size, Some(&facts))?;
        let outcome = read();
        expect(0, ptr::null(), 0, None)?;
        Ok(outcome)
    }
}

/// The IPC message of a `pyarrow.RecordBatch` whose data lies on the host, as ranges of memory:
/// most of them are the batch's own memory.
///
/// This owns the batch.  It must be dropped with the GIL held, since that may destroy Python
/// objects.
pub struct Payload {
    payload: *mut CppPayload,
    api: &'static BridgeApi,
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
