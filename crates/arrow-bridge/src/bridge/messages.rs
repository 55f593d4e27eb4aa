//! Messages in device memory, and record batches that are copied there as messages.

use super::Bridge;
use crate::fault::Fault;
use crate::ffi::{CppPayload, HostRange, HostRanges, MessageFacts, RustBuffer};
use crate::object_ref::{Object, ObjectRef};
use arrow_cuda_ipc::DeviceMessage;
use std::{ptr, slice};

imported! { Bridge[api.messages]:
    safe fn payload_open(batch: ObjectRef<'_>) -> Result<*mut CppPayload, Fault>;

    /// Does not require the GIL.
    unsafe fn payload_ranges(payload: *mut CppPayload) -> Result<HostRanges, Fault>;

    /// Requires the GIL.
    unsafe fn payload_release(payload: *mut CppPayload);

    /// Takes ownership of `body`, a slice of the buffer, even on failure.
    unsafe fn batch_of_message(
        buffer: ObjectRef<'_>,
        schema: ObjectRef<'_>,
        memo: Option<ObjectRef<'_>>,
        metadata: HostRange,
        facts: &MessageFacts,
        body: Box<RustBuffer>,
    ) -> Result<Object, Fault>;

    /// Reads at that position return these bytes, until another call passes null for `metadata`.
    unsafe fn expect_metadata(
        reader: ObjectRef<'_>,
        position: i64,
        metadata: HostRange,
        facts: Option<&MessageFacts>,
    ) -> Result<(), Fault>;
}

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
        Ok(Payload { payload: self.payload_open(batch)?, bridge: *self })
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
        let (metadata, facts) =
            (HostRange::of(&message.metadata), MessageFacts::of(&message.facts));
        let body = Box::new(message.body);
        // SAFETY: guaranteed by the caller; the metadata is read during the call only.
        unsafe { self.batch_of_message(buffer, schema, memo, metadata, &facts, body) }
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
        let position = (position + message.frame.metadata_offset).cast_signed();
        let expect = |position, metadata, facts| {
            // SAFETY: guaranteed by the caller; the metadata is read during the call only.
            unsafe { self.expect_metadata(file, position, metadata, facts) }
        };
        expect(position, HostRange::of(&message.metadata), Some(&facts))?;
        let outcome = read();
        expect(0, HostRange { data: ptr::null(), size: 0 }, None)?;
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
    bridge: Bridge,
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
        let found = unsafe { self.bridge.payload_ranges(self.payload) }?;
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
        unsafe { self.bridge.payload_release(self.payload) };
    }
}
