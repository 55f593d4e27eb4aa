//! Regular files behind Python's file objects, which can be read and written by their descriptors.

use crate::interpreter::call_out;
use arrow_cuda_host_io::HostFile;
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd};
use std::os::unix::fs::MetadataExt;

/// A file without blocks that is larger is sparse.
const LEAST_WITHOUT_BLOCKS: u64 = 1 << 20;

/// A regular file, and where its reader stands.
pub(super) struct RegularFile {
    file: File,
    pub(super) position: u64,
}

impl RegularFile {
    /// The file behind an object, if reading it by its descriptor gives the bytes that the object would
    /// give; `None` for all others.
    pub(super) fn of(stream: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        let Some(file) = open_file(stream)? else { return Ok(None) };
        // Direct reads need aligned memory and sizes.
        if !file.metadata()?.is_file() || open_flags(file.as_raw_fd())? & libc::O_DIRECT != 0 {
            return Ok(None);
        }
        if !call_out(&stream.getattr("readable")?, ())?.is_truthy()? {
            return Ok(None);
        }
        let found = Self { file, position: call_out(&stream.getattr("tell")?, ())?.extract()? };
        // Some files of the system have bytes, but no size, or claim a page and have no blocks.
        let metadata = found.file.metadata()?;
        let has_size = metadata.blocks() > 0 || metadata.len() > LEAST_WITHOUT_BLOCKS;
        Ok(found.rest()?.filter(|_| has_size).map(|_| found))
    }

    /// How many bytes there are after the position at present, if any.
    pub(super) fn rest(&self) -> PyResult<Option<u64>> {
        let size = self.file.metadata()?.len();
        Ok(size.checked_sub(self.position).filter(|rest| *rest > 0))
    }

    /// The file, of which `size` bytes after the position are to be read.
    pub(super) fn to_read(&self, size: u64) -> PyResult<HostFile> {
        Ok(HostFile::to_read(self.file.try_clone()?, self.position, size, None))
    }
}

/// A copy of the descriptor of an open file, which the caller closes; `None` for an object that is no
/// file, or that gives other bytes than its descriptor.
#[pyfunction(name = "_descriptor")]
pub(super) fn descriptor(file: &Bound<'_, PyAny>) -> PyResult<Option<i32>> {
    Ok(open_file(file)?.map(File::into_raw_fd))
}

/// A copy of a descriptor, which stays open when another thread closes that one.
pub(super) fn duplicate(descriptor: i32) -> io::Result<File> {
    if descriptor < 0 {
        return Err(io::Error::from_raw_os_error(libc::EBADF));
    }
    // SAFETY: it is only copied, which fails if it is not open.
    unsafe { BorrowedFd::borrow_raw(descriptor) }.try_clone_to_owned().map(File::from)
}

/// The file behind an object whose methods nobody has changed, as a subclass might; `None` for others.
fn open_file(object: &Bound<'_, PyAny>) -> PyResult<Option<File>> {
    let class = object.get_type();
    // The file inside a named temporary file.  Its name is looked up first: few programs import the module.
    let object = match class.name()? == "_TemporaryFileWrapper"
        && is_class(&class, "tempfile", "_TemporaryFileWrapper")?
    {
        true => object.getattr("file")?,
        false => object.clone(),
    };
    let (class, mut raw) = (object.get_type(), object.clone());
    for buffered in ["BufferedReader", "BufferedWriter", "BufferedRandom"] {
        if is_class(&class, "io", buffered)? {
            call_out(&object.getattr("flush")?, ())?;
            raw = object.getattr("raw")?;
        }
    }
    let class = raw.get_type();
    if !is_class(&class, "io", "FileIO")? && !is_class(&class, "pyarrow.lib", "OSFile")? {
        return Ok(None);
    }
    match object.getattr("fileno").and_then(|fileno| call_out(&fileno, ())) {
        Ok(number) => Ok(Some(duplicate(number.extract()?)?)),
        // Before pyarrow 25, an `OSFile` does not know it.
        Err(error) if error.is_instance_of::<PyAttributeError>(object.py()) => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_class(class: &Bound<'_, PyType>, module: &str, name: &str) -> PyResult<bool> {
    Ok(class.is(class.py().import(module)?.getattr(name)?.cast::<PyType>()?))
}

/// The flags with which a descriptor was opened.  Python's `fcntl` is a shared library, which a
/// sandboxed program may be unable to load.
#[pyfunction(name = "_open_flags")]
pub(super) fn open_flags(descriptor: i32) -> PyResult<i32> {
    // SAFETY: asks for flags only, and fails if the descriptor is not open.
    let flags = unsafe { libc::fcntl(descriptor, libc::F_GETFL) };
    if flags < 0 { Err(io::Error::last_os_error().into()) } else { Ok(flags) }
}
