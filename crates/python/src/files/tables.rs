//! Tables of Arrow files and streams.  The Python package opens the files: `_methods/tables.py`.

use super::regular_file::duplicate;
use crate::contexts::context::PyContext;
use crate::errors::{OrRaise, of_descriptor};
use crate::interpreter::call_out;
use crate::pyarrow::from_pyarrow::host_bytes;
use crate::pyarrow::pyarrow;
use crate::pyarrow::to_pyarrow::made;
use crate::signals::copy_for_signals;
use arrow_cuda_driver::uninterrupted;
use arrow_cuda_ipc::{MessageIndex, Source};
use pyo3::prelude::*;
use std::os::fd::AsFd;

/// A callback gets this many reports.
const REPORTS: u64 = 64;

/// A table on a context's device of the messages in an open file, or in a `pyarrow.Buffer` of the host, of the columns
/// with these names, or of all.  `None` if pyarrow has to read them.
#[pyfunction]
#[pyo3(name = "_table_of")]
pub(super) fn table_of<'py>(
    context: &Bound<'py, PyContext>,
    descriptor: Option<i32>,
    data: &Bound<'py, PyAny>,
    columns: &Bound<'py, PyAny>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = context.py();
    let file = descriptor.map(duplicate).transpose();
    let file = file.map_err(|error| of_descriptor(&error, data))?;
    let source = match &file {
        Some(file) => Source::File { file: file.as_fd(), size: file.metadata()?.len() },
        None => Source::Memory(host_bytes(data)?),
    };
    let messages = py.detach(|| MessageIndex::read(&source)).or_raise(py)?;
    let Some(messages) = messages else { return Ok(None) };
    let (bridge, device) = (&pyarrow(py)?.bridge, context.get().device_number().cast_signed());
    let columns: Option<Vec<String>> = columns.extract()?;
    let progress = progress.map(|progress| progress.clone().unbind());
    let report = |py: Python<'_>, done, total| match &progress {
        Some(progress) => call_out(progress.bind(py), (done, total)).map(drop),
        None => Ok(()),
    };
    copy_for_signals(py, context.get().context(), || {
        let (mut raised, mut shown) = (None, None);
        let mut watch = |done: u64, total: u64| {
            let done = done.min(total);
            let is_soon = done < total && done - shown.unwrap_or_default() <= total / REPORTS;
            if progress.is_none() || is_soon || shown.replace(done) == Some(done) {
                return true;
            }
            // The callback may copy, and give up the GIL while it does.
            let told = uninterrupted(|| Python::attach(|py| report(py, done, total)));
            told.map_err(|error| raised = Some(error)).is_ok()
        };
        let table = py.detach(|| {
            bridge.read_table(&messages, source, device, columns.as_deref(), &mut watch)
        });
        if let Some(raised) = raised {
            return Err(raised);
        }
        let table = table.or_raise(py)?;
        // SAFETY: the GIL is held.
        let table = made(py, |_| unsafe { table.wrap() })?;
        if shown.is_none() {
            report(py, 0, 0)?; // the table has no bytes
        }
        Ok(Some(table))
    })
}
