//! Which driver library is used, and loading it.

use crate::lifecycle;
use std::ffi::{CStr, c_void};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The environment variable that chooses the driver: unset for the real one, `sim` for the
/// simulator, or a library's path.
pub const DRIVER_VARIABLE: &str = "PYARROW_CUDA_DRIVER";

/// Stands for a result code when no driver library could be loaded.
pub(crate) const NO_LIBRARY: i32 = i32::MIN;
/// Stands for a result code when the library lacks the function.
pub(crate) const NO_SYMBOL: i32 = i32::MIN + 1;

const REAL: &str = "libcuda.so.1";
const SIMULATOR: &str = "libcuda_sim.so";

/// A driver library that could not be loaded: which one was looked for, and why it failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// The library's name or path, as it was given to the loader.
    pub library: String,
    /// What the loader said.
    pub reason: String,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { library, reason } = self;
        write!(
            f,
            "the CUDA driver library '{library}' could not be loaded ({reason}); on a machine with \
             an NVIDIA GPU install its driver, elsewhere set {DRIVER_VARIABLE}=sim for the \
             simulated device"
        )
    }
}

impl std::error::Error for LoadError {}

/// A loaded driver library.  Never unloaded: the driver has threads and exit handlers.
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
}

/// The process's driver library, loaded by the first call.  The choice is made once.
pub(crate) fn get() -> Result<&'static Library, &'static LoadError> {
    static LIBRARY: OnceLock<Result<Library, LoadError>> = OnceLock::new();
    LIBRARY.get_or_init(load).as_ref()
}

/// The name or path of the process's driver library, which is loaded by this call if none was.
///
/// # Errors
///
/// When it cannot be loaded.
pub fn library_name() -> Result<&'static str, &'static LoadError> {
    get().map(|library| library.name.as_str())
}

/// Whether the process's driver is the simulated one.  Loads it if none was.
///
/// # Errors
///
/// When it cannot be loaded.
pub fn is_simulated() -> Result<bool, &'static LoadError> {
    get().map(|library| library.symbol(c"cuda_sim_call_count").is_some())
}

fn load() -> Result<Library, LoadError> {
    let name = chosen();
    // SAFETY: loading a library runs its initialisers; the user chose this one.
    match unsafe { libloading::Library::new(&name) } {
        Ok(handle) => {
            lifecycle::watch_forks();
            Ok(Library { handle, name: name.display().to_string() })
        }
        Err(error) => {
            Err(LoadError { library: name.display().to_string(), reason: error.to_string() })
        }
    }
}

fn chosen() -> PathBuf {
    match std::env::var_os(DRIVER_VARIABLE) {
        None => REAL.into(),
        Some(choice) if choice.is_empty() => REAL.into(),
        Some(choice) if choice == "sim" => simulator(),
        Some(path) => path.into(),
    }
}

/// The simulator lies beside the binary that holds this code: in `lib/` of the Python package,
/// or in cargo's target folder.  Its bare name, left to the loader's search path, otherwise.
fn simulator() -> PathBuf {
    let Some(own) = own_folder() else {
        return SIMULATOR.into();
    };
    ["lib", ".", ".."]
        .iter()
        .map(|folder| own.join(folder).join(SIMULATOR))
        .find(|path| path.is_file())
        .unwrap_or_else(|| SIMULATOR.into())
}

/// The folder of the shared library or program that this function was linked into.
fn own_folder() -> Option<PathBuf> {
    let here = own_folder as *const c_void;
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: `dladdr` fills `info` when it returns non-zero, and reads nothing through `here`.
    let info = unsafe {
        if libc::dladdr(here, info.as_mut_ptr()) == 0 {
            return None;
        }
        info.assume_init()
    };
    if info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: a non-null `dli_fname` is a NUL-terminated path that lives as long as the library.
    let path = unsafe { CStr::from_ptr(info.dli_fname) }.to_str().ok()?;
    Some(std::fs::canonicalize(Path::new(path)).ok()?.parent()?.to_owned())
}
