//! The C++ library: how it is loaded, and the functions that it has for Rust.

mod c_data;
mod columns;
mod copies;
mod messages;
mod objects;
mod readers;
mod tables;

pub(crate) use self::{
    c_data::Table as CDataTable, columns::Table as ColumnsTable, copies::Table as CopiesTable,
    messages::Table as MessagesTable, objects::Table as ObjectsTable,
    readers::Table as ReadersTable, tables::Table as TablesTable,
};
pub use columns::Column;
pub use messages::Payload;
pub use objects::Contents;
pub use tables::NewTable;

use crate::decoders;
use crate::exports::{self, RustApi};
use crate::fault::{Failure, Fault, done};
use crate::ffi::{ABI_VERSION, PyarrowApi};
use crate::kind::Kind;
use arrow_cuda_driver::linker_message;
use std::path::Path;

/// C++'s functions for Rust, which the methods of [`Bridge`] document and call.  Each function that takes a `PyObject`
/// requires the GIL, which an [`ObjectRef`](crate::ObjectRef) shows.  A `PyObject` that is returned is a new reference.
#[repr(C)]
struct BridgeApi {
    abi_version: u32,
    arrow_major: i32,
    /// Called once, before the other functions.  Both tables live forever.
    start: unsafe extern "C" fn(rust: &RustApi, pyarrow: &PyarrowApi) -> Failure,
    objects: ObjectsTable,
    messages: MessagesTable,
    copies: CopiesTable,
    c_data: CDataTable,
    readers: ReadersTable,
    tables: TablesTable,
    columns: ColumnsTable,
    decoders: decoders::Table,
}

/// The library's one export.
type Entry = unsafe extern "C" fn() -> &'static BridgeApi;

/// The loaded C++ library, for one major version of Arrow.
///
/// Objects are passed as raw `PyObject*`, since this crate does not depend on Python: those that it takes
/// as [`ObjectRef`](crate::ObjectRef), and new references, which it returns, as [`Object`](crate::Object).
#[derive(Clone, Copy)]
pub struct Bridge {
    api: &'static BridgeApi,
}

impl Bridge {
    /// Loads the library and exchanges the tables of both sides.  It stays loaded: pyarrow objects
    /// have destructors in its code.
    ///
    /// # Errors
    ///
    /// [`Kind::Io`] when it cannot be loaded, or was built for another version of this crate.
    ///
    /// # Safety
    ///
    /// `pyarrow` must hold the pointers of the pyarrow that is imported, and the library must be
    /// the one built for its major version.
    pub unsafe fn load(library: &Path, pyarrow: PyarrowApi) -> Result<Self, Fault> {
        let failed = |error: libloading::Error| {
            let (library, reason) = (library.display(), linker_message(&error));
            let text = format!(
                "the Arrow bridge '{library}' could not be loaded ({reason}); reinstall \
                 pyarrow-cuda-compat, and pyarrow from PyPI, whose libarrow the bridge needs"
            );
            Fault::new(Kind::Io, text)
        };
        // SAFETY: the caller names our own library; its initialisers only make constants.
        let library = unsafe { libloading::Library::new(library) }.map_err(failed)?;
        // SAFETY: entries/bridge.cc checks that the entry has this type.
        let entry = *unsafe { library.get::<Entry>(b"arrow_cuda_bridge_api\0") }.map_err(failed)?;
        std::mem::forget(library);
        // SAFETY: it takes nothing.
        let api = unsafe { entry() };
        if api.abi_version != ABI_VERSION {
            let text =
                format!("the Arrow bridge has version {}, not {ABI_VERSION}", api.abi_version);
            return Err(Fault::new(Kind::Io, text));
        }
        // SAFETY: both tables live forever.
        done(unsafe { (api.start)(&exports::API, Box::leak(Box::new(pyarrow))) })?;
        Ok(Self { api })
    }

    /// The major version of the Arrow that the library was built for.
    pub fn arrow_major(&self) -> i32 {
        self.api.arrow_major
    }
}
