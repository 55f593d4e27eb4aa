//! `BufferWriter`.

use super::regular_file::RegularFile;
use crate::copies::source::Data;
use crate::errors::{OrRaise, extended, non_negative};
use crate::interpreter::call_out;
use crate::pyarrow::cython_subclass::{Class, constructor, only_argument};
use crate::pyarrow::from_pyarrow::{device_buffer, writer};
use crate::pyarrow::to_pyarrow::open_file;
use arrow_cuda_host_io::{BufferWriter, Error as FileError};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

/// How many bytes of a source are read at a time by default, as in pyarrow.
const PIECE: usize = 1 << 16;

pub(crate) const CLASS: Class = Class {
    name: c"pyarrow._cuda.BufferWriter",
    signature: "(buffer)",
    doc: c"Writes to a device buffer as to a file.\n\
        \n\
        Writes go straight to the device unless `buffer_size` is set.  A write past\n\
        the buffer's end fails as a whole, and does not change the buffer.\n\
        \n\
        Parameters\n\
        ----------\n\
        buffer : CudaBuffer\n\
        \x20   The mutable buffer to write to.\n\
        \n\
        Raises\n\
        ------\n\
        TypeError\n\
        \x20   If `buffer` is not a CudaBuffer.\n\
        pyarrow.ArrowInvalid\n\
        \x20   If `buffer` is not mutable.\n\
        \n\
        Examples\n\
        --------\n\
        >>> from pyarrow import cuda\n\
        >>> ctx = cuda.Context(0)\n\
        >>> buf = ctx.new_buffer(8)\n\
        >>> with cuda.BufferWriter(buf) as writer:\n\
        ...     writer.buffer_size = 64\n\
        ...     written = writer.write(b\"over\") + writer.write(b\"here\")\n\
        >>> buf.to_pybytes()\n\
        b'overhere'",
    new: constructor!(|class, arguments, keywords| {
        open_file(
            class,
            &only_argument("BufferWriter", "buffer", arguments, keywords)?,
            "buffer",
            true,
        )
    }),
};

/// The methods of `BufferWriter`; `self` is an object of that class.
#[pyclass(frozen, subclass, name = "BufferWriter", module = "pyarrow._cuda")]
pub(crate) struct Methods;

#[pymethods]
impl Methods {
    /// Move to a position and write there.
    ///
    /// Parameters
    /// ----------
    /// position : int
    ///     Where to write, in bytes from the buffer's start.
    /// data : array-like
    ///     The data: anything that `pyarrow.py_buffer` accepts, or a device
    ///     buffer.
    ///
    /// Raises
    /// ------
    /// OSError
    ///     If the position is outside the buffer, or the data does not fit.
    /// ValueError
    ///     If the file is closed.
    ///
    /// Examples
    /// --------
    /// >>> buf = ctx.buffer_from_data(b"........")
    /// >>> writer = cuda.BufferWriter(buf)
    /// >>> writer.writeat(2, b"here")
    /// >>> writer.tell(), buf.to_pybytes()
    /// (6, b'..here..')
    fn writeat(slf: &Bound<'_, Self>, position: i64, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = slf.py();
        let writer = open_writer(slf)?;
        let data = Data::of(data)?;
        let position = position_argument(position)?;
        match data {
            Data::Host(data) => {
                let bytes = data.bytes()?;
                py.detach(|| writer.write_at(position, bytes)).or_raise(py)
            }
            Data::Device(data) => {
                let data = device_buffer(&data)?;
                py.detach(|| writer.write_device_at(position, data)).or_raise(py)
            }
        }
    }

    /// Write everything from another file's position to its end.
    ///
    /// Several threads read a regular file that `open(path, "rb")` or
    /// `pyarrow.OSFile` has opened, straight into pinned memory. So this is the fastest
    /// way to bring a file to the device. Other sources are read and written
    /// `buffer_size` bytes at a time.
    ///
    /// Parameters
    /// ----------
    /// stream : file-like
    ///     The source. Its position moves to its end.
    /// buffer_size : int, optional
    ///     How many bytes to read at a time, where no threads read; by default 65536.
    ///
    /// Raises
    /// ------
    /// OSError
    ///     If the file does not fit, cannot be read, or becomes shorter meanwhile.
    ///     No position moves over bytes that did not arrive, but some of the device's
    ///     bytes after it may have changed. Where no threads read, the source has moved
    ///     over the piece that did not arrive.
    /// ValueError
    ///     If one of the files is closed.
    ///
    /// Examples
    /// --------
    /// >>> import tempfile
    /// >>> buf = ctx.buffer_from_data(b"........")
    /// >>> with tempfile.NamedTemporaryFile() as file:
    /// ...     written = file.write(b"columns")
    /// ...     file.flush()
    /// ...     with open(file.name, "rb") as source, cuda.BufferWriter(buf) as writer:
    /// ...         writer.upload(source)
    /// >>> buf.to_pybytes()
    /// b'columns.'
    #[pyo3(signature = (stream, buffer_size=None))]
    fn upload(
        slf: &Bound<'_, Self>,
        stream: &Bound<'_, PyAny>,
        buffer_size: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let py = slf.py();
        let writer = open_writer(slf)?;
        let Some(mut source) = RegularFile::of(stream)? else {
            return upload_pieces(slf, stream, buffer_size);
        };
        // It may grow meanwhile.
        while let Some(size) = source.rest()? {
            let file = source.to_read(size)?;
            py.detach(|| writer.write_file(&file, source.position, size as usize)).or_raise(py)?;
            source.position += size;
            call_out(&stream.getattr("seek")?, (source.position,))?;
        }
        Ok(())
    }

    /// Write buffered bytes to the device, and wait until they are there.
    ///
    /// Raises
    /// ------
    /// OSError
    ///     If the copy fails, or one that is on its way; the bytes stay buffered
    ///     where possible.
    /// ValueError
    ///     If the file is closed.
    ///
    /// Examples
    /// --------
    /// >>> buf = ctx.buffer_from_data(b"....")
    /// >>> writer = cuda.BufferWriter(buf)
    /// >>> writer.buffer_size = 64
    /// >>> written = writer.write(b"ab")
    /// >>> writer.flush()
    /// >>> buf.to_pybytes()
    /// b'ab..'
    fn flush(slf: &Bound<'_, Self>) -> PyResult<()> {
        let py = slf.py();
        let writer = open_writer(slf)?;
        py.detach(|| writer.flush()).or_raise(py)
    }

    /// Change the position.
    ///
    /// Parameters
    /// ----------
    /// position : int
    ///     The new position, in bytes.
    /// whence : int, default 0
    ///     0 to count from the buffer's start, 1 from the current position.
    ///
    /// Returns
    /// -------
    /// position : int
    ///     The new position, in bytes from the buffer's start.
    ///
    /// Raises
    /// ------
    /// OSError
    ///     If the position is outside the buffer.
    /// ValueError
    ///     If `whence` has another value, or the file is closed.
    ///
    /// Examples
    /// --------
    /// >>> writer = cuda.BufferWriter(ctx.new_buffer(8))
    /// >>> writer.seek(2)
    /// 2
    /// >>> writer.seek(3, whence=1)
    /// 5
    #[pyo3(signature = (position, whence=0))]
    fn seek(slf: &Bound<'_, Self>, position: i64, whence: i32) -> PyResult<u64> {
        let py = slf.py();
        let writer = open_writer(slf)?;
        let position = match whence {
            0 => position,
            1 => {
                py.detach(|| writer.position()).or_raise(py)?.cast_signed().saturating_add(position)
            }
            _ => {
                return Err(PyValueError::new_err(format!("Invalid value of whence: {whence}")));
            }
        };
        let position = position_argument(position)?;
        py.detach(|| writer.set_position(position)).or_raise(py)?;
        Ok(position)
    }

    /// The size of the host buffer that collects writes, in bytes; 0 for none.
    ///
    /// Setting it flushes.  Buffered bytes reach the device when you call `flush`, when a write
    /// fills the host buffer, when the position changes, and when the file is closed. `flush`
    /// and `close` wait until all bytes are there. Otherwise the copy runs in the order of the
    /// default stream while the program fills a second buffer of the same size: work that is
    /// queued there later sees the bytes, other streams only after `flush`.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the new size is negative, or the file is closed.
    ///
    /// Examples
    /// --------
    /// >>> writer = cuda.BufferWriter(ctx.new_buffer(8))
    /// >>> writer.buffer_size
    /// 0
    /// >>> writer.buffer_size = 64
    #[getter]
    fn buffer_size(slf: &Bound<'_, Self>) -> PyResult<usize> {
        let writer = writer(slf)?;
        Ok(slf.py().detach(|| writer.buffer_size()))
    }

    #[setter]
    fn set_buffer_size(slf: &Bound<'_, Self>, buffer_size: i64) -> PyResult<()> {
        let py = slf.py();
        let writer = open_writer(slf)?;
        let size = non_negative("buffer_size", buffer_size)?;
        py.detach(|| writer.set_buffer_size(size)).or_raise(py)
    }

    /// The number of unflushed bytes in the host buffer.
    ///
    /// Examples
    /// --------
    /// >>> writer = cuda.BufferWriter(ctx.new_buffer(8))
    /// >>> writer.buffer_size = 64
    /// >>> written = writer.write(b"abc")
    /// >>> writer.num_bytes_buffered
    /// 3
    #[getter]
    fn num_bytes_buffered(slf: &Bound<'_, Self>) -> PyResult<usize> {
        let writer = writer(slf)?;
        Ok(slf.py().detach(|| writer.bytes_buffered()))
    }
}

/// Writes what a source has, piece by piece.  pyarrow's own method writes in a thread of its own, and
/// loses what that thread raises.
fn upload_pieces(
    writer: &Bound<'_, Methods>,
    source: &Bound<'_, PyAny>,
    size: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let py = source.py();
    let given = size.map(|size| size.is_truthy().map(|is_given| is_given.then_some(size)));
    let size = match given.transpose()?.flatten() {
        Some(size) => size.clone(),
        None => PIECE.into_pyobject(py)?.into_any(),
    };
    loop {
        let read = source.getattr("read").map_err(|error| not_a_file(source, error))?;
        let piece = call_out(&read, (&size,))?;
        if !piece.is_truthy()? {
            return Ok(());
        }
        call_out(&writer.getattr("write")?, (piece,))?;
    }
}

/// Python's error for an object that cannot be read, and what to do with a path.
fn not_a_file(source: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
    match source.is_instance_of::<PyString>() {
        true => extended(source.py(), &error, "upload takes an open file: open(path, 'rb')"),
        false => error,
    }
}

fn open_writer<'a>(object: &'a Bound<'_, Methods>) -> PyResult<&'a BufferWriter> {
    let writer = writer(object)?;
    if object.py().detach(|| writer.is_closed()) {
        return Err(PyValueError::new_err(FileError::Closed.to_string()));
    }
    Ok(writer)
}

fn position_argument(position: i64) -> PyResult<u64> {
    u64::try_from(position).map_err(|_| PyOSError::new_err("position out of bounds"))
}
