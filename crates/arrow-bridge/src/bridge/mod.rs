//! The C++ library: how it is loaded, and the functions that it has for Rust.

mod copies;
mod exchange;
mod messages;
mod object_state;
mod objects;
mod pickling;

pub use objects::Contents;

use crate::exports;
use crate::fault::Fault;
use crate::ffi::{ABI_VERSION, BridgeApi, Entry, Failure, Kind, Object, PyarrowApi};
use arrow_cuda_driver::linker_message;
use std::path::Path;

/// The loaded C++ library, for one major version of Arrow.
///
/// Objects are passed as raw `PyObject*`, since this crate does not depend on Python: those that it takes
/// as [`Live`](crate::Live), and new references, which it returns, as [`Object`].
pub struct Bridge {
    api: &'static BridgeApi,
}

// SAFETY: the table is constant.
unsafe impl Send for Bridge {}
// SAFETY: as above.
unsafe impl Sync for Bridge {}

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
        let entry = *unsafe { library.get::<Entry>(b"arrow_cuda_bridge\0") }.map_err(failed)?;
        std::mem::forget(library);
        let pyarrow = Box::leak(Box::new(pyarrow));
        let mut failure = Failure::none();
        // SAFETY: both tables live forever, and the failure is writable.
        let api = unsafe { entry(&raw const exports::API, pyarrow, &raw mut failure).as_ref() };
        match api {
            Some(api) if api.abi_version == ABI_VERSION => Ok(Self { api }),
            Some(api) => Err(Fault::new(
                Kind::Io,
                format!("the Arrow bridge has version {}, not {ABI_VERSION}", api.abi_version),
            )),
            None => Err(failure.into_fault()),
        }
    }

    /// The major version of the Arrow that the library was built for.
    pub fn arrow_major(&self) -> i32 {
        self.api.arrow_major
    }
}

/// Calls C++ and converts its failure.
fn filled(call: impl FnOnce(*mut Failure) -> bool) -> Result<(), Fault> {
    let mut failure = Failure::none();
    if call(&raw mut failure) { Ok(()) } else { Err(failure.into_fault()) }
}

/// Calls C++ for a new object and converts its failure.
fn made(call: impl FnOnce(*mut Failure) -> Object) -> Result<Object, Fault> {
    let mut failure = Failure::none();
    let object = call(&raw mut failure);
    if object.is_null() { Err(failure.into_fault()) } else { Ok(object) }
}

/// Calls C++ for a new object that may be missing: null without a failure.
fn made_or_none(call: impl FnOnce(*mut Failure) -> Object) -> Result<Option<Object>, Fault> {
    let mut failure = Failure::none();
    let object = call(&raw mut failure);
    match failure.kind {
        Kind::None => Ok((!object.is_null()).then_some(object)),
        _ => Err(failure.into_fault()),
    }
}
