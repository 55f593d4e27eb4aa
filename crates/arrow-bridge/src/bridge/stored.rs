//! Tables from files.

use super::Bridge;
use crate::fault::Fault;
use crate::ffi::{BridgeApi, CppTable, HostRange, HostRanges};
use crate::object_ref::Object;
use crate::stored::{Stored, Watch};
use arrow_cuda_ipc::{Source, StoredMessages};
use std::cell::RefCell;
use std::ptr;

/// A table that Python does not have yet.
#[must_use]
pub struct NewTable {
    table: *mut CppTable,
    api: &'static BridgeApi,
}

// SAFETY: the border requires no particular thread.
unsafe impl Send for NewTable {}

impl NewTable {
    /// A new reference to a `pyarrow.Table`.
    ///
    /// # Errors
    ///
    /// Python's, when there is no memory.
    ///
    /// # Safety
    ///
    /// This thread must hold the GIL.
    pub unsafe fn wrap(self) -> Result<Object, Fault> {
        // SAFETY: guaranteed by the caller; our own object, passed once.
        unsafe { (self.api.wrap_table)(self.table) }.into_result()
    }
}

impl Bridge {
    /// A table on a device, of messages that were read from `source`: of the columns with these names, in
    /// their order, or of all columns.  Threads read and decompress the bodies.  Does not require the GIL.
    ///
    /// # Errors
    ///
    /// [`Kind::Invalid`](crate::Kind::Invalid) for messages that contradict themselves; [`Kind::Key`](crate::Kind::Key)
    /// for a name that no column has, or several; [`Kind::Io`](crate::Kind::Io) for what cannot be read or
    /// decompressed; driver errors.
    pub fn table_of_stored(
        &self,
        messages: &StoredMessages,
        source: Source<'_>,
        device: i32,
        columns: Option<&[String]>,
        watch: &mut Watch<'_>,
    ) -> Result<NewTable, Fault> {
        let api = self.api;
        let stored = Stored { messages, source, watch: RefCell::new(watch), api };
        let range = |name: &String| HostRange { data: name.as_ptr(), size: name.len() };
        let names: Option<Vec<_>> = columns.map(|columns| columns.iter().map(range).collect());
        let ranges = match &names {
            Some(names) => HostRanges { first: names.as_ptr(), count: names.len() },
            None => HostRanges { first: ptr::null(), count: 0 },
        };
        // SAFETY: all of it is valid during the call.
        let made = unsafe { (api.table_of_stored)(&stored, device, ranges) };
        made.into_result().map(|table| NewTable { table, api })
    }
}
