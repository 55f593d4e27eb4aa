//! Readers of record batches that are read ahead.

use super::Bridge;
use crate::fault::{Fault, done};
use crate::ffi::Object;
use crate::live::Live;
use std::ptr;

/// Batches that are taken together.
const MOST_BATCHES: usize = 1024;

/// The batches that one call has taken.
pub struct Batches {
    /// New references.
    pub objects: Vec<Object>,
    /// The bytes that copies of them take.
    pub nbytes: i64,
    /// Whether the source has ended, or failed, after these.
    pub are_last: bool,
}

impl Bridge {
    /// Initialises `fresh` as a reader that reads ahead, and takes the batches of `reader` over.  That one keeps its
    /// schema, and refuses to be read.  The new one waits while it has read `most` bytes that nobody has taken.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`](crate::Kind::Type) for an uninitialised reader.
    ///
    /// # Safety
    ///
    /// Both objects must be of the class `pyarrow.RecordBatchReader`, and `fresh` new.
    pub unsafe fn read_ahead(
        &self,
        reader: Live<'_>,
        most: i64,
        fresh: Live<'_>,
    ) -> Result<(), Fault> {
        // SAFETY: guaranteed by the caller.
        done(unsafe { (self.api.read_ahead)(reader.as_ptr(), most, fresh.as_ptr()) })
    }

    /// Reads ahead until the source ends, or the reader is closed.
    ///
    /// # Errors
    ///
    /// [`Kind::Type`](crate::Kind::Type) for another reader.
    ///
    /// # Safety
    ///
    /// The object must be of the class.
    pub unsafe fn run_ahead(&self, ahead: Live<'_>) -> Result<(), Fault> {
        // SAFETY: guaranteed by the caller.
        done(unsafe { (self.api.run_ahead)(ahead.as_ptr()) })
    }

    /// The batches that were read, up to `nbytes` or one of them; none if there are none for some milliseconds.
    /// After the last ones, `rest` is initialised as a reader that ends, or fails, as the source has done.
    ///
    /// # Errors
    ///
    /// As [`run_ahead`](Self::run_ahead).
    ///
    /// # Safety
    ///
    /// Both objects must be of the class, and `rest` new.
    pub unsafe fn take_batches(
        &self,
        ahead: Live<'_>,
        nbytes: i64,
        rest: Live<'_>,
    ) -> Result<Batches, Fault> {
        let (ahead, rest) = (ahead.as_ptr(), rest.as_ptr());
        let mut objects = vec![ptr::null_mut(); MOST_BATCHES];
        let (out, capacity) = (objects.as_mut_ptr(), objects.len());
        // SAFETY: guaranteed by the caller, and a place for each batch.
        let taken = unsafe { (self.api.take_batches)(ahead, nbytes, rest, out, capacity) };
        let taken = taken.into_result()?;
        objects.truncate(taken.count);
        Ok(Batches { objects, nbytes: taken.nbytes, are_last: taken.are_last })
    }
}
