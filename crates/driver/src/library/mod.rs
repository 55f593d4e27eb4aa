//! Which driver library the process uses, and loading it.

mod choice;
mod error;
mod simulator;

pub use choice::DRIVER_VARIABLE;
pub use error::{LoadError, linker_message};

use crate::lifecycle;
use choice::Choice;
use std::ffi::{CStr, c_void};
use std::sync::OnceLock;

/// Stands for a result code when no driver library could be loaded.
pub(crate) const NO_LIBRARY: i32 = i32::MIN;
/// Stands for a result code when the library lacks the function.
pub(crate) const NO_SYMBOL: i32 = i32::MIN + 1;

/// A loaded driver library.  It is never unloaded: the driver has threads and exit handlers.
pub(crate) struct Library {
    handle: libloading::Library,
    pub(crate) name: String,
}

impl Library {
    pub(crate) fn symbol(&self, name: &CStr) -> Option<*mut c_void> {
        // SAFETY: only the address is taken here; `forward.rs` gives it its type.
        let symbol = unsafe { self.handle.get::<*mut c_void>(name.to_bytes_with_nul()) };
        symbol.ok().map(|address| *address)
    }

    fn open(choice: &Choice) -> Result<Self, LoadError> {
        let path = choice.library();
        // SAFETY: loading a library runs its initialisers; the user chose this one.
        let handle = unsafe { libloading::Library::new(&path) }
            .map_err(|error| LoadError::refused(choice, &path, linker_message(&error)))?;
        let library = Self { handle, name: path.display().to_string() };
        match library.symbol(c"cuInit") {
            Some(_) => Ok(library),
            None => Err(LoadError::not_a_driver(choice, &path)),
        }
    }
}

/// The process's driver library, which the first call chooses and loads.  After a failure, the next call
/// tries again: the process may have lacked memory or descriptors.
pub(crate) fn get() -> Result<&'static Library, LoadError> {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    if let Some(library) = LIBRARY.get() {
        return Ok(library);
    }
    let library = Library::open(&Choice::from_environment())?;
    // Where another thread was faster, both have the same library open, and this drops its handle.
    Ok(LIBRARY.get_or_init(|| {
        lifecycle::watch_forks();
        library
    }))
}
