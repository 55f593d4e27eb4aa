//! Finds the data on a device in arguments, and replaces it.
//!
//! All guards use this one walk.  It looks into containers of Python and of other libraries.  It passes each array,
//! table, buffer or message on a device to an action, and puts the action's result in its place.

use super::functions::unguarded;
use super::may_contain::{Contents, contents_of, source_of};
use crate::contexts::context::PyContext;
use crate::interpreter::call_out;
use crate::pyarrow::from_pyarrow::{is_of, is_on_device};
use crate::pyarrow::{Lib, Pyarrow, pyarrow};
use arrow_cuda_bridge::BatchSource;
use pyo3::exceptions::PyException;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyList, PyTuple};

/// How deep containers in containers are looked into.
const DEPTH: usize = 5;

/// A walk through arguments.  A visit returns the object to use instead, or none if the same object serves.
#[derive(Clone, Copy)]
pub(super) struct Walk<'a, 'py> {
    pyarrow: &'static Pyarrow,
    py: Python<'py>,
    /// Called with the data and the first argument of the guarded call.  Without an action, a visit returns any
    /// object that may contain data on a device.
    action: Option<(&'a Bound<'py, PyAny>, &'a Bound<'py, PyAny>)>,
}

/// An object in place of the visited one.
type Replacement<'py> = Option<Bound<'py, PyAny>>;

/// The object with `action(data, None)` in place of all data on a device.
#[pyfunction(name = "_map_device_data")]
pub(super) fn map_device_data<'py>(
    object: Bound<'py, PyAny>,
    action: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let none = object.py().None().into_bound(object.py());
    map(object, action, &none)
}

fn map<'py>(
    object: Bound<'py, PyAny>,
    action: &Bound<'py, PyAny>,
    first: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    match Walk::new(object.py(), Some((action, first)), || Ok(false))? {
        Some(walk) => Ok(walk.visit(&object)?.unwrap_or(object)),
        None => Ok(object),
    }
}

impl<'a, 'py> Walk<'a, 'py> {
    /// None as long as there is no device, because no object has data on one, unless `may_use` says that the walk's
    /// own objects may use one.
    pub(super) fn new(
        py: Python<'py>,
        action: Option<(&'a Bound<'py, PyAny>, &'a Bound<'py, PyAny>)>,
        may_use: impl FnOnce() -> PyResult<bool>,
    ) -> PyResult<Option<Self>> {
        let pyarrow = pyarrow(py)?;
        let has_device = pyarrow.bridge.has_devices() || PyContext::is_any_made();
        let is_needed = has_device || may_use()?;
        Ok(is_needed.then_some(Self { pyarrow, py, action }))
    }

    pub(super) fn visit(&self, object: &Bound<'py, PyAny>) -> PyResult<Replacement<'py>> {
        self.look(object, DEPTH)
    }

    fn look(&self, object: &Bound<'py, PyAny>, depth: usize) -> PyResult<Replacement<'py>> {
        if has_data(&self.pyarrow.lib, object) {
            return is_on_device(object)?.then(|| self.act(object)).transpose();
        }
        let Some(depth) = depth.checked_sub(1) else { return Ok(None) };
        if let Ok(list) = object.cast_exact::<PyList>() {
            return self.list(list, depth);
        }
        if let Ok(tuple) = object.cast_exact::<PyTuple>() {
            let items = || tuple.iter();
            let items = self.items(items, depth)?;
            return items.map(|items| Ok(PyTuple::new(self.py, items)?.into_any())).transpose();
        }
        if let Ok(dict) = object.cast_exact::<PyDict>() {
            return self.dict(dict.copy()?, depth);
        }
        match contents_of(object)? {
            Contents::Nothing => Ok(None),
            Contents::Message => self.message(object),
            Contents::Batches => self.batches(object),
            Contents::Array => self.array(object),
            Contents::Elements => self.elements(object, depth),
            Contents::Mapping => {
                let dict = call_out(self.py.get_type::<PyDict>().as_any(), (object,))?;
                self.dict(dict.cast_into()?, depth)
            }
            Contents::Stream => self.stream(object).map(Some),
            Contents::Items => self.container(object, depth),
        }
    }

    /// The result replaces the data even if that is the same object: an object that is read again may give others,
    /// which no action has seen.
    fn act(&self, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let Some((action, first)) = self.action else { return Ok(data.clone()) };
        call_out(action, (data, first))
    }

    fn list(&self, list: &Bound<'py, PyList>, depth: usize) -> PyResult<Replacement<'py>> {
        let items = self.items(|| list.iter(), depth)?;
        items.map(|items| Ok(PyList::new(self.py, items)?.into_any())).transpose()
    }

    /// The items with replacements among them; none if all stay.
    fn items<I: Iterator<Item = Bound<'py, PyAny>>>(
        &self,
        items: impl Fn() -> I,
        depth: usize,
    ) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
        let mut rest = items();
        let mut same = 0;
        while let Some(item) = rest.next() {
            let Some(found) = self.look(&item, depth)? else {
                same += 1;
                continue;
            };
            let mut all: Vec<_> = items().take(same).collect();
            all.push(found);
            for item in rest.take_while(|_| self.action.is_some()) {
                all.push(self.look(&item, depth)?.unwrap_or(item));
            }
            return Ok(Some(all));
        }
        Ok(None)
    }

    /// `copy` belongs to the walk: an action may change the dict that it was made of.
    fn dict(&self, copy: Bound<'py, PyDict>, depth: usize) -> PyResult<Replacement<'py>> {
        let mut is_changed = false;
        for (key, value) in &copy {
            if let Some(found) = self.look(&value, depth)? {
                copy.set_item(key, found)?;
                is_changed = true;
            }
        }
        Ok(is_changed.then(|| copy.into_any()))
    }

    fn message(&self, message: &Bound<'py, PyAny>) -> PyResult<Replacement<'py>> {
        let body = message.getattr(intern!(self.py, "body"))?;
        let is_host = body.is_none() || body.getattr(intern!(self.py, "is_cpu"))?.is_truthy()?;
        (!is_host).then(|| self.act(message)).transpose()
    }

    /// A reader of the same batches, with an action on each when it is read.
    fn batches(&self, reader: &Bound<'py, PyAny>) -> PyResult<Replacement<'py>> {
        // That table lies on the host: `_patches/batches.py` makes the readers of others.
        if source_of(reader)? == BatchSource::Table {
            return Ok(None);
        }
        let batches = self.stream(reader)?;
        let schema = reader.getattr(intern!(self.py, "schema"))?;
        let readers = self.pyarrow.lib.record_batch_reader.bind(self.py);
        let make = readers.getattr(intern!(self.py, "from_batches"))?;
        // The reader of these batches has told where they lie.
        let original = unguarded(&make)?.map(|original| original.into_bound(self.py).into_any());
        original.unwrap_or(make).call1((schema, batches)).map(Some)
    }

    /// The array that pyarrow would make of the object, if the array lies on a device.
    fn array(&self, object: &Bound<'py, PyAny>) -> PyResult<Replacement<'py>> {
        let make = self.py.import(intern!(self.py, "pyarrow.lib"))?.getattr("array")?;
        match call_out(&make, (object,)) {
            Ok(made) if is_on_device(&made)? => self.act(&made).map(Some),
            Ok(_) => Ok(None),
            // pyarrow raises the same when the function itself reads the object.
            Err(error) if error.is_instance_of::<PyException>(self.py) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A NumPy array of objects contains items, and pandas' series may contain Arrow's arrays.
    fn elements(&self, object: &Bound<'py, PyAny>, depth: usize) -> PyResult<Replacement<'py>> {
        let Ok(dtype) = object.getattr(intern!(self.py, "dtype")) else { return Ok(None) };
        match dtype.getattr_opt(intern!(self.py, "hasobject"))? {
            Some(has_objects) if has_objects.is_truthy()? && is_flat(object) => {
                self.container(object, depth)
            }
            None if dtype.hasattr(intern!(self.py, "pyarrow_dtype"))? => self.array(object),
            _ => Ok(None),
        }
    }

    fn container(&self, object: &Bound<'py, PyAny>, depth: usize) -> PyResult<Replacement<'py>> {
        let list = items_of(object)?;
        let Some(found) = self.items(|| list.iter(), depth)? else { return Ok(None) };
        // pyarrow may look at the class: a container stays that gives the same objects once more.
        let gives_them_again = || -> PyResult<bool> {
            let again = items_of(object)?;
            let are_same = again.iter().zip(&found).all(|(one, other)| one.is(other));
            Ok(are_same && again.len() == found.len())
        };
        if self.action.is_some() && gives_them_again()? {
            return Ok(None);
        }
        Ok(Some(match object.is_instance_of::<PyTuple>() {
            true => PyTuple::new(self.py, found)?.into_any(),
            false => PyList::new(self.py, found)?.into_any(),
        }))
    }

    /// An iterator over the same items, with an action on each when it is read.
    fn stream(&self, object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let Some((action, first)) = self.action else { return Ok(object.clone()) };
        let (action, first) = (action.clone().unbind(), first.clone().unbind());
        let each = move |arguments: &Bound<'_, PyTuple>, _: Option<&Bound<'_, PyDict>>| {
            let py = arguments.py();
            map(arguments.get_item(0)?, action.bind(py), first.bind(py)).map(Bound::unbind)
        };
        let each = PyCFunction::new_closure(self.py, None, None, each)?;
        let map = self.py.import(intern!(self.py, "builtins"))?.getattr("map")?;
        call_out(&map, (each, object))
    }
}

pub(super) fn items_of<'py>(container: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
    let py = container.py();
    // `list` would ask the container for its length, which may run code of another library; a `chain` has no length.
    let chain = py.import(intern!(py, "itertools"))?.getattr("chain")?.call1((container,))?;
    Ok(call_out(py.get_type::<PyList>().as_any(), (chain,))?.cast_into()?)
}

fn has_data(lib: &Lib, object: &Bound<'_, PyAny>) -> bool {
    [&lib.array, &lib.chunked_array, &lib.table, &lib.record_batch, &lib.buffer]
        .into_iter()
        .any(|class| is_of(object, class))
}

fn is_flat(object: &Bound<'_, PyAny>) -> bool {
    object.getattr("ndim").and_then(|count| count.extract::<usize>()).is_ok_and(|count| count == 1)
}
