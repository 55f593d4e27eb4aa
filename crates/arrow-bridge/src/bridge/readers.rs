//! Readers of copies of record batches, which read ahead.

use super::Bridge;
use crate::fault::Fault;
use crate::ffi::{BatchesTaken, RustStream};
use crate::object_ref::{Destination, Object, ObjectRef};
use std::ptr;

imported! { Bridge[api.readers]:
    /// Initialises `fresh` as a reader that takes the batches of `reader` over, to copy them to `destination`.  The
    /// thread that reads waits while it has read `most` bytes that nobody has taken; with 0, no thread reads.
    /// `has_stream` says whether the copies will be made on a stream.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`](crate::Kind::Type) for uninitialised objects.
    ///
    /// # Safety
    ///
    /// Both readers must be of the class `pyarrow.RecordBatchReader`, and `fresh` new.
    pub unsafe fn read_ahead(
        reader: ObjectRef<'_>,
        most: i64,
        destination: &Destination<'_>,
        has_stream: bool,
        fresh: ObjectRef<'_>,
    ) -> Result<(), Fault>;

    /// Reads ahead until the source ends, or the reader is closed.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`](crate::Kind::Type) for a reader that does not read ahead.
    ///
    /// # Safety
    ///
    /// The object must be of the class.
    pub unsafe fn run_ahead(ahead: ObjectRef<'_>) -> Result<(), Fault>;

    /// The batches that were taken before, unless those `were_copied`; else the next ones, or none for now.
    ///
    /// # Errors
    ///
    /// As [`run_ahead`](Self::run_ahead).
    ///
    /// # Safety
    ///
    /// As [`run_ahead`](Self::run_ahead); one thread at a time.
    pub unsafe fn take_batches(
        ahead: ObjectRef<'_>,
        were_copied: bool,
    ) -> Result<BatchesTaken, Fault>;

    /// Stores a new reference to a copy of each batch, whose bytes it returns.
    unsafe fn copy_batches(
        ahead: ObjectRef<'_>,
        stream: Option<&RustStream>,
        out: *mut Object,
    ) -> Result<i64, Fault>;
}

impl Bridge {
    /// New references to copies of the batches that were taken, made as [`copy_to`](Self::copy_to) makes them, and
    /// the bytes of these.
    ///
    /// # Errors
    ///
    /// As [`copy_to`](Self::copy_to).
    ///
    /// # Safety
    ///
    /// As [`take_batches`](Self::take_batches), which must have returned `taken`.
    pub unsafe fn copy_taken(
        &self,
        ahead: ObjectRef<'_>,
        taken: &BatchesTaken,
        stream: Option<&RustStream>,
    ) -> Result<(Vec<Object>, i64), Fault> {
        let mut copies = vec![ptr::null_mut(); taken.count];
        // SAFETY: guaranteed by the caller, and a place for each batch.
        let nbytes = unsafe { self.copy_batches(ahead, stream, copies.as_mut_ptr()) }?;
        Ok((copies, nbytes))
    }
}
