//! `set_allocator`: buffers in the memory of other libraries' allocators.

use crate::contexts::argument::context_or_first;
use crate::contexts::context::PyContext;
use crate::errors::{OrRaise, class_name};
use crate::interpreter::{Owner, call_out, with_exception_kept, with_gil, with_interpreter};
use crate::pyarrow::to_pyarrow::wrap_buffer;
use arrow_cuda_buffer::{Allocation, Allocator, DeviceBuffer, with_own_memory};
use arrow_cuda_context::{Context, wait_for_work_in_flight};
use arrow_cuda_driver::{AllocatorError, CudaError, CudaResult, may_release};
use pyo3::exceptions::{PyAttributeError, PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::Arc;

/// Two callables, or one whose results own their memory.
struct PythonAllocator {
    allocate: Owner,
    deallocate: Option<Arc<Owner>>,
}

// SAFETY: the program promises it: the documentation of `set_allocator` asks for it.
unsafe impl Allocator for PythonAllocator {
    fn allocate(&self, context: &Context, size: usize) -> CudaResult<Allocation> {
        let allocate = |py: Python<'_>| match self.ask(py, context, size) {
            // Work that is complete may still retain memory of the allocator's, which is released here, where
            // the GIL is held; the work itself may need it.
            Err(error)
                if error.is_out_of_memory() && !py.detach(wait_for_work_in_flight).is_empty() =>
            {
                self.ask(py, context, size)
            }
            outcome => outcome,
        };
        with_interpreter(|py| with_exception_kept(py, || allocate(py)))
    }
}

impl PythonAllocator {
    fn ask(&self, py: Python<'_>, context: &Context, size: usize) -> CudaResult<Allocation> {
        // Other libraries allocate on the current device.
        let _entered = context.enter()?;
        let failed = |error| failure(py, error);
        let given = call_out(&self.allocate.bind(py), (size,)).map_err(failed)?;
        let (address, release) = match &self.deallocate {
            Some(deallocate) => {
                let address = address(&given).map_err(failed)?;
                (address, Release::Call { deallocate: Arc::clone(deallocate), address, size })
            }
            None => {
                let address = address_of(&given).map_err(failed)?;
                (address, Release::Drop(Owner::new(given.unbind())))
            }
        };
        // An allocator that gives nothing has nothing to release.
        let release = (address != 0).then_some(release);
        let owner = Memory { context: context.clone(), release };
        Ok(Allocation { address, owner: Box::new(owner) })
    }
}

fn address(given: &Bound<'_, PyAny>) -> PyResult<u64> {
    given.extract().map_err(|_| {
        let class = class_name(given);
        PyTypeError::new_err(format!("the allocator returned {class}, not the address of memory"))
    })
}

/// The address of an object that owns memory, as CuPy's pointers have it.
fn address_of(given: &Bound<'_, PyAny>) -> PyResult<u64> {
    let address = given.getattr("ptr").map_err(|error| {
        if !error.is_instance_of::<PyAttributeError>(given.py()) {
            return error;
        }
        let class = class_name(given);
        PyTypeError::new_err(format!(
            "the allocator returned {class}, which has no 'ptr': set two functions if the first one \
             returns addresses"
        ))
    })?;
    self::address(&address)
}

/// The allocator's exception, as an error of the Rust crates.
fn failure(py: Python<'_>, error: PyErr) -> CudaError {
    let lacks_memory = error.is_instance_of::<PyMemoryError>(py);
    let text = format!("the allocator has failed: {error}");
    // Layers that have given the GIL up drop the failure.
    let raised = Owner::new(error.into_value(py).into_any());
    let failure = AllocatorError::new(text, Some(Arc::new(raised)));
    CudaError::Allocator(if lacks_memory { failure.out_of_memory() } else { failure })
}

struct Memory {
    context: Context,
    /// None once it is released.
    release: Option<Release>,
}

enum Release {
    /// By a function.
    Call { deallocate: Arc<Owner>, address: u64, size: usize },
    /// With the object that owns it.
    Drop(Owner),
}

impl Drop for Memory {
    fn drop(&mut self) {
        let Some(release) = self.release.take() else { return };
        if !may_release() {
            return std::mem::forget(release);
        }
        let context = self.context.clone();
        with_gil(Box::new(move |py| {
            with_exception_kept(py, || {
                // Also in a destroyed context: the allocator counts its releases.
                let _entered = context.enter();
                // Buffers that it allocates are in the context's own memory, as in `allocate`.
                with_own_memory(|| release.run(py));
            });
        }));
    }
}

impl Release {
    fn run(self, py: Python<'_>) {
        match self {
            Self::Drop(owner) => drop(owner),
            Self::Call { deallocate, address, size } => {
                let callable = deallocate.bind(py);
                if let Err(error) = call_out(&callable, (address, size)) {
                    error.write_unraisable(py, Some(&callable));
                }
            }
        }
    }
}

/// Let another library allocate the device memory of new buffers.
///
/// All device memory that the package allocates for its user then comes from there: that of
/// buffers, arrays, messages, and what pyarrow's ``copy_to`` allocates.  Buffers that exist keep
/// their memory.
///
/// Parameters
/// ----------
/// allocator : object, callable, tuple of two callables, or None
///     * An RMM memory resource, such as ``rmm.mr.get_current_device_resource()``, or another
///       object with the methods ``allocate(nbytes)``, which returns an address, and
///       ``deallocate(address, nbytes)``;
///     * two such functions;
///     * a function that returns an object which owns memory and has its address as `ptr`,
///       such as ``cupy.get_default_memory_pool().malloc``;
///     * None: from now on, the context allocates the memory itself again.
/// context : Context, int or str, optional
///     The device that this is about: its primary context, number or name; by default device 0.
///     The context is current while the functions run.
///
/// Raises
/// ------
/// TypeError
///     If `allocator` is not one of these, or `context` is neither a Context nor a number.
/// ValueError
///     If the context is not the primary one of its device, or no device has the number.
///
/// Notes
/// -----
/// The package does not cache such memory: it returns it when the last buffer over it is
/// released, on the main thread if the releasing thread is without the GIL.  `memory_stats` and
/// `Context.bytes_allocated` do not count it.
///
/// The memory must be the buffer's alone until it is released, and ready for work of the legacy
/// default stream; an allocation waits for the work that is queued there.  What the functions raise, the allocation
/// raises; in functions of pyarrow itself it is a MemoryError or an OSError with the same text.  What `deallocate`
/// raises goes to ``sys.unraisablehook``.  Each address is checked: it must be a multiple of 256, in memory of the
/// device that is large enough.  Buffers that the functions themselves allocate are the context's own memory.
///
/// Other processes can open a buffer only if it is a whole allocation of ``cudaMalloc``;
/// `CudaBuffer.export_for_ipc` refuses others, as they share an allocation with memory that is
/// not the package's, or lie in a pool that cannot be exported.
///
/// Examples
/// --------
/// >>> from pyarrow_cuda_compat import set_allocator
/// >>> pool = [ctx.new_buffer(4096)]
/// >>> def allocate(nbytes):
/// ...     return pool[0].address
/// >>> def deallocate(address, nbytes):
/// ...     print("released", nbytes)
/// >>> set_allocator((allocate, deallocate))
/// >>> ctx.buffer_from_data(b"theirs").address == pool[0].address
/// released 6
/// True
/// >>> set_allocator(None)
#[pyfunction(signature = (allocator, context=None))]
pub(crate) fn set_allocator(
    py: Python<'_>,
    allocator: Option<&Bound<'_, PyAny>>,
    context: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let context = context_or_first(py, context)?;
    if !context.is_primary() {
        return Err(PyValueError::new_err(
            "an allocator can be set for the primary context of a device only",
        ));
    }
    let allocator = allocator.map(functions).transpose()?;
    let allocator = allocator.map(|allocator| Arc::new(allocator) as Arc<dyn Allocator>);
    arrow_cuda_buffer::set_allocator(context.device().number(), allocator).or_raise(py)
}

fn functions(allocator: &Bound<'_, PyAny>) -> PyResult<PythonAllocator> {
    let of = |allocate: Bound<'_, PyAny>, deallocate: Option<Bound<'_, PyAny>>| {
        if !allocate.is_callable() || !deallocate.as_ref().is_none_or(Bound::is_callable) {
            return Err(not_an_allocator(allocator));
        }
        let deallocate = deallocate.map(|deallocate| Arc::new(Owner::new(deallocate.unbind())));
        Ok(PythonAllocator { allocate: Owner::new(allocate.unbind()), deallocate })
    };
    if let Ok(two) = allocator.cast::<PyTuple>() {
        let (allocate, deallocate) = two.extract().map_err(|_| not_an_allocator(allocator))?;
        return of(allocate, Some(deallocate));
    }
    match (allocator.getattr_opt("allocate")?, allocator.getattr_opt("deallocate")?) {
        (Some(allocate), Some(deallocate)) => of(allocate, Some(deallocate)),
        _ => of(allocator.clone(), None),
    }
}

fn not_an_allocator(object: &Bound<'_, PyAny>) -> PyErr {
    let class = class_name(object);
    PyTypeError::new_err(format!(
        "an allocator is a memory resource, two functions, or one that returns objects which own \
         memory, not {class}"
    ))
}

/// Allocates as `Context.new_buffer` does, for a call of another library, which is not recorded; with `is_own`
/// in the context's own memory, whatever allocator is set.
#[pyfunction(name = "_allocate", signature = (context, size, *, is_own=false))]
pub(crate) fn allocate<'py>(
    py: Python<'py>,
    context: &PyContext,
    size: usize,
    is_own: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let allocate = || DeviceBuffer::allocate(context.context(), size);
    let buffer = py.detach(|| if is_own { with_own_memory(allocate) } else { allocate() });
    wrap_buffer(py, buffer.or_raise(py)?)
}
