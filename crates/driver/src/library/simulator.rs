//! Where the simulator's library lies.

use std::ffi::{CStr, OsStr, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The simulator's file name, for which the dynamic linker searches when no folder below has it.
pub(super) const NAME: &str = "libcuda_sim.so";

/// Where the simulator may lie, seen from the binary that holds this code: in `lib/` of the Python
/// package, or in the `deps/` folder to which cargo builds it, for programs (`deps`), examples and
/// tests (`../deps`).  Only then come the copies that cargo leaves one folder up, which may be old.
const FOLDERS: [&str; 5] = ["lib", "deps", "../deps", ".", ".."];

/// The simulator's path, or its bare name when it does not lie where it is expected.
pub(super) fn path() -> PathBuf {
    let found = own_folder().and_then(|own| {
        let existing = FOLDERS.iter().filter_map(|folder| own.join(folder).canonicalize().ok());
        existing.filter_map(|folder| find(&folder)).next()
    });
    found.unwrap_or_else(|| NAME.into())
}

/// The simulator in `folder`.  Where the crate comes from a registry or from git, cargo puts a hash
/// into the name; builds of several versions may lie side by side, and the newest is taken.
fn find(folder: &Path) -> Option<PathBuf> {
    let plain = folder.join(NAME);
    if plain.is_file() {
        return Some(plain);
    }
    let built = |path: &PathBuf| path.metadata().and_then(|facts| facts.modified()).ok();
    folder
        .read_dir()
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.file_name().is_some_and(is_hashed))
        .max_by_key(|path| built(path).unwrap_or(SystemTime::UNIX_EPOCH))
}

/// Whether a file name is the simulator's with cargo's hash in it: `libcuda_sim-0123abcd.so`.
fn is_hashed(name: &OsStr) -> bool {
    let hash = name
        .to_str()
        .and_then(|name| name.strip_prefix("libcuda_sim-"))
        .and_then(|name| name.strip_suffix(".so"));
    hash.is_some_and(|hash| !hash.is_empty() && hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// The folder of the shared library or program that this function was linked into.
pub(super) fn own_folder() -> Option<PathBuf> {
    let own = own_library().or_else(|| std::env::current_exe().ok())?;
    Some(std::fs::canonicalize(own).ok()?.parent()?.to_owned())
}

/// The path of that shared library; none for a program that was started by its bare name.
fn own_library() -> Option<PathBuf> {
    let here = own_library as *const c_void;
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
    let path = unsafe { CStr::from_ptr(info.dli_fname) };
    let path = Path::new(OsStr::from_bytes(path.to_bytes()));
    // For a program this is what it was started as, which the shell may have found on its path.
    (path.components().count() > 1).then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plain_name_comes_first_and_then_the_newest_build() {
        let folder = std::env::temp_dir().join(format!("simulators-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let place = |name: &str, age: u64| {
            let path = folder.join(name);
            let file = std::fs::File::create(&path).expect("a file");
            let built = SystemTime::now() - std::time::Duration::from_secs(age);
            file.set_modified(built).expect("a time");
            path
        };
        for other in ["libcuda_sim-.so", "libcuda_sim-0123.rlib", "libcuda_simple-0123.so"] {
            place(other, 0);
        }
        assert_eq!(find(&folder), None);
        place("libcuda_sim-aaaa.so", 20);
        let newest = place("libcuda_sim-0123456789abcdef.so", 10);
        place("libcuda_sim-cccc.so", 30);
        assert_eq!(find(&folder), Some(newest));
        let plain = place("libcuda_sim.so", 40);
        assert_eq!(find(&folder), Some(plain));
        std::fs::remove_dir_all(&folder).expect("the folder goes");
    }
}
