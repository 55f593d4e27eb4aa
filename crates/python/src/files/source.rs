//! Files that can be read by their descriptors, past the objects that opened them.

use pyo3::prelude::*;
use pyo3::types::PyType;
use std::fs::File;
use std::os::fd::{AsRawFd, BorrowedFd};

/// A regular file, and where its reader stands.
pub(super) struct RegularFile {
    pub(super) file: File,
    pub(super) position: u64,
}

impl RegularFile {
    /// The file behind an object, if reading it by its descriptor gives the bytes that the object would
    /// give; `None` for all others.
    pub(super) fn of(stream: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        if !is_plain(stream)? || !stream.call_method0("readable")?.is_truthy()? {
            return Ok(None);
        }
        let descriptor: i32 = stream.call_method0("fileno")?.extract()?;
        // A copy of the descriptor stays open when another thread closes the object.
        // SAFETY: the object has just returned it, and it is only copied.
        let file =
            unsafe { BorrowedFd::borrow_raw(descriptor) }.try_clone_to_owned().map(File::from)?;
        if !file.metadata()?.is_file() || is_direct(&file) {
            return Ok(None);
        }
        let found = Self { file, position: stream.call_method0("tell")?.extract()? };
        // Some files of the system have bytes, but no size.
        Ok(found.rest()?.map(|_| found))
    }

    /// How many bytes there are behind the position at present, if any.
    pub(super) fn rest(&self) -> PyResult<Option<u64>> {
        let size = self.file.metadata()?.len();
        Ok(size.checked_sub(self.position).filter(|rest| *rest > 0))
    }
}

/// Whether nobody has changed what the object's methods do, as a subclass might.
fn is_plain(stream: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = stream.py();
    let class = |module: &str, name: &str| {
        Ok::<_, PyErr>(py.import(module)?.getattr(name)?.cast_into::<PyType>()?)
    };
    let raw = match stream.get_type().is(&class("io", "BufferedReader")?) {
        true => stream.getattr("raw")?,
        false => stream.clone(),
    };
    let found = raw.get_type();
    Ok(found.is(&class("io", "FileIO")?) || found.is(&class("pyarrow.lib", "OSFile")?))
}

/// Whether reads need aligned memory and sizes.
fn is_direct(file: &File) -> bool {
    // SAFETY: asks for the flags of an open file.
    let flags = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFL) };
    flags >= 0 && flags & libc::O_DIRECT != 0
}
