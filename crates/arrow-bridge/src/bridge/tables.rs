//! Tables from files.

use super::Bridge;
use crate::body_reader::{BodyReader, Watch};
use crate::fault::Fault;
use crate::ffi::{CppTable, HostRange, HostRanges, RustBodyReader};
use crate::object_ref::Object;
use arrow_cuda_ipc::{MessageIndex, Source};
use std::cell::RefCell;
use std::ptr;

imported! { Bridge[api.tables]:
    /// If `names.first` is null, the table has all columns.
    unsafe fn table_from(
        reader: &RustBodyReader<'_>,
        device: i32,
        names: HostRanges,
    ) -> Result<*mut CppTable, Fault>;

    /// Takes the table over, also on failure.  Requires the GIL, unlike the others.
    unsafe fn wrap_table(table: *mut CppTable) -> Result<Object, Fault>;
}

/// A table that Python does not have yet.
#[must_use]
pub struct NewTable {
    table: *mut CppTable,
    bridge: Bridge,
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
        unsafe { self.bridge.wrap_table(self.table) }
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
    pub fn read_table(
        &self,
        messages: &MessageIndex,
        source: Source<'_>,
        device: i32,
        columns: Option<&[String]>,
        watch: &mut Watch<'_>,
    ) -> Result<NewTable, Fault> {
        let (watch, decoders) = (RefCell::new(watch), &self.api.decoders);
        let reader = BodyReader { messages, source, watch, decoders };
        let range = |name: &String| HostRange::of(name.as_bytes());
        let names: Option<Vec<_>> = columns.map(|columns| columns.iter().map(range).collect());
        let ranges = match &names {
            Some(names) => HostRanges { first: names.as_ptr(), count: names.len() },
            None => HostRanges { first: ptr::null(), count: 0 },
        };
        // SAFETY: all of it is valid during the call.
        let table = unsafe { self.table_from(&reader, device, ranges) }?;
        Ok(NewTable { table, bridge: *self })
    }
}
