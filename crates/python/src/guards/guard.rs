//! Looks for data on a device in the arguments of a call, and passes what it finds to the guard's action.

use super::assertions::take_trust;
use super::computing::context_of_call;
use super::functions::{PyObject_Vectorcall, call_by};
use super::may_contain::{are_lazy, source_of};
use super::refusal::refusal;
use super::walk::{Walk, items_of};
use arrow_cuda_bridge::BatchSource;
use arrow_cuda_context::Context;
use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

/// When the handler is called, and for what.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    /// For each piece of data on a device, with the first argument of the call: its result takes the data's place.
    EachData,
    /// Instead of the function, with that and all arguments, if one of them contains data on a device.
    AnyData,
    /// As above, in the context of the items of the guard's argument: see `computing.rs`.
    Computed,
    /// As for any data, in every call.
    Always,
    /// Never: if an argument contains data on a device, pyarrow's check of the first one is left out.
    Method,
    /// Never: the function is that check.  It refuses data on a device, except within such a method.
    Check,
    /// With the result of a call, if it contains data on a device: its own result takes that one's place.
    Result,
}

impl FromPyObject<'_, '_> for When {
    type Error = PyErr;

    fn extract(name: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        match name.extract::<&str>()? {
            "each" => Ok(Self::EachData),
            "any" => Ok(Self::AnyData),
            "computed" => Ok(Self::Computed),
            "always" => Ok(Self::Always),
            "method" => Ok(Self::Method),
            "check" => Ok(Self::Check),
            "result" => Ok(Self::Result),
            other => Err(PyValueError::new_err(format!("no guard acts for {other}"))),
        }
    }
}

/// The handler of a guard, and when it is called.
#[pyclass(frozen, module = "pyarrow_cuda_compat._native", name = "_Guard")]
pub(super) struct Guard {
    handler: Py<PyAny>,
    when: When,
    /// It acts in calls with this argument only: its position and its name.
    argument: Option<(usize, Py<PyString>)>,
}

#[pymethods]
impl Guard {
    #[new]
    #[pyo3(signature = (handler, when, argument=None))]
    fn new(handler: Py<PyAny>, when: When, argument: Option<(usize, Py<PyString>)>) -> Self {
        Self { handler, when, argument }
    }
}

/// How a call goes on.
pub(super) enum Call<'py> {
    Unchanged,
    /// The function gets these arguments.
    With(Vec<Bound<'py, PyAny>>),
    /// The function gets the same arguments, and the check passes once for this one.
    Trusting(Bound<'py, PyAny>),
    /// The handler gets the function and all arguments.
    Instead(Bound<'py, PyAny>),
    /// So it does in a context, if there is one, and with these arguments.
    Computed(Bound<'py, PyAny>, Option<Context>, Vec<Bound<'py, PyAny>>),
    /// There is nothing to call: this is the result.
    Answered(Bound<'py, PyAny>),
}

impl Guard {
    /// `names` are those of the last arguments, if they have any.
    pub(super) fn call<'py>(
        &self,
        py: Python<'py>,
        arguments: &(impl ExactSizeIterator<Item = Bound<'py, PyAny>> + Clone),
        names: Option<&Bound<'py, PyTuple>>,
    ) -> PyResult<Call<'py>> {
        let handler = self.handler.bind(py);
        if self.when == When::Always {
            return Ok(Call::Instead(handler.clone()));
        }
        let first = arguments.clone().next();
        let first = first.unwrap_or_else(|| py.None().into_bound(py));
        let Some(walk) = self.walk(&first, || are_lazy(arguments.clone()))? else {
            return Ok(Call::Unchanged);
        };
        let Some(place) = self.place(arguments.clone(), names)? else { return Ok(Call::Unchanged) };
        let mut used: Option<Vec<_>> = None;
        for (number, argument) in arguments.clone().enumerate() {
            let Some(found) = walk.visit(&argument)? else { continue };
            match self.when {
                When::Computed => {
                    // Read once: a program may change a list meanwhile.
                    let mut all: Vec<_> = arguments.clone().collect();
                    let Some(argument) = all.get_mut(place) else { return Ok(Call::Unchanged) };
                    let items = items_of(argument)?;
                    let context = context_of_call(&items)?;
                    *argument = items.into_any();
                    return Ok(Call::Computed(handler.clone(), context, all));
                }
                When::AnyData => return Ok(Call::Instead(handler.clone())),
                When::Method => return Ok(Call::Trusting(first)),
                When::Check if take_trust(&first) => {
                    return Ok(Call::Answered(py.None().into_bound(py)));
                }
                When::Check => return Err(refusal(&first, None, None)?),
                _ => {}
            }
            let used = used.get_or_insert_with(|| arguments.clone().collect());
            used.splice(number..=number, [found]);
        }
        Ok(used.map_or(Call::Unchanged, Call::With))
    }

    /// A walk for a call with that first argument; none as long as no device was used.
    pub(super) fn walk<'a, 'py>(
        &'a self,
        first: &'a Bound<'py, PyAny>,
        may_use: impl FnOnce() -> PyResult<bool>,
    ) -> PyResult<Option<Walk<'a, 'py>>> {
        let action =
            (self.when == When::EachData).then_some((self.handler.bind(first.py()), first));
        Walk::new(first.py(), action, may_use)
    }

    /// Whether the handler is called with results, whatever the arguments are.
    pub(super) fn is_for_results(&self) -> bool {
        self.when == When::Result
    }

    /// The handler's answer to a result with data on a device, else that result; null and an exception if that fails.
    ///
    /// # Safety
    ///
    /// A new reference, or null and an exception, and the arguments of the method that returned it; the GIL is held.
    pub(super) unsafe fn made_of(
        &self,
        result: *mut ffi::PyObject,
        arguments: *const *mut ffi::PyObject,
    ) -> *mut ffi::PyObject {
        if result.is_null() {
            return result;
        }
        Python::attach(|py| {
            // SAFETY: guaranteed by the caller; a method without an object fails.
            let (result, object) = unsafe {
                (Bound::from_owned_ptr(py, result), Bound::from_borrowed_ptr(py, *arguments))
            };
            let (handler, no_names) = (self.handler.as_ptr(), std::ptr::null_mut());
            // `_patches/batches.py` has corrected the batches of tables and iterables already.
            let is_due = || -> PyResult<bool> {
                let Some(walk) = Walk::new(py, None, || Ok(false))? else { return Ok(false) };
                Ok(source_of(&object)? == BatchSource::Other && walk.visit(&result)?.is_some())
            };
            match is_due() {
                Ok(false) => result.into_ptr(),
                // SAFETY: a callable, and one live argument.
                Ok(true) => unsafe {
                    call_by(PyObject_Vectorcall, handler, &[result.as_ptr()], 1, no_names)
                },
                Err(error) => {
                    error.restore(py);
                    std::ptr::null_mut()
                }
            }
        })
    }

    /// The place of the argument without which the guard does not act; none if that is not given, the first if there
    /// is no such argument.
    fn place<'py>(
        &self,
        mut arguments: impl ExactSizeIterator<Item = Bound<'py, PyAny>>,
        names: Option<&Bound<'py, PyTuple>>,
    ) -> PyResult<Option<usize>> {
        let Some((position, name)) = &self.argument else { return Ok(Some(0)) };
        let positional = arguments.len() - names.map_or(0, PyTupleMethods::len);
        let place = match names {
            _ if *position < positional => Some(*position),
            Some(names) if names.contains(name)? => Some(positional + names.index(name)?),
            _ => None,
        };
        Ok(place.filter(|place| arguments.nth(*place).is_some_and(|given| !given.is_none())))
    }
}
