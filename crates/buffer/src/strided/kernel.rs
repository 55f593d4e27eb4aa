//! The kernels that copy between layouts, each compiled by the driver once a context.

use super::launches::{Kernel, launches};
use super::plan::Plan;
use crate::kernels::{THREADS, text_of};
use crate::{DeviceBuffer, Error};
use arrow_cuda_context::{Completed, Current, Extension, Function, Stream, StreamHandle};
use arrow_cuda_driver::{CudaResult, LongLock};
use std::ffi::{CStr, c_void};

/// With a NUL at its end, as the driver requires.
const STRIDED: &CStr = text_of(concat!(include_str!("strided.ptx"), "\0"));
const TRANSPOSED: &CStr = text_of(concat!(include_str!("transposed.ptx"), "\0"));

impl Kernel {
    /// The text of the kernel.
    pub(super) fn source(self) -> &'static CStr {
        match self {
            Self::Strided => STRIDED,
            Self::Transposed => TRANSPOSED,
        }
    }

    pub(super) fn name(self) -> &'static CStr {
        match self {
            Self::Strided => c"arrow_cuda_strided",
            Self::Transposed => c"arrow_cuda_transposed",
        }
    }
}

/// The compiled kernels.  The driver destroys them with the context: releasing them later would pass
/// it a dead handle.
#[derive(Default)]
struct Kernels {
    strided: LongLock<Option<Function>>,
    transposed: LongLock<Option<Function>>,
}

impl Extension for Kernels {}

impl Kernels {
    fn get(current: &Current<'_>, kernel: Kernel) -> CudaResult<Function> {
        let kernels = current.context().extension_or(|| CudaResult::Ok(Self::default()))?;
        let slot = match kernel {
            Kernel::Strided => &kernels.strided,
            Kernel::Transposed => &kernels.transposed,
        };
        let mut slot = slot.lock()?;
        if let Some(function) = *slot {
            return Ok(function);
        }
        let function = current.load_function(kernel.source(), kernel.name())?;
        *slot = Some(function);
        Ok(function)
    }
}

/// Makes a copy within a context, which is not plain, and whose ends do not overlap.
pub(super) fn copy(plan: Plan, to: &DeviceBuffer, from: &DeviceBuffer) -> Result<(), Error> {
    let current = to.context().enter()?;
    current.await_turn(StreamHandle::DEFAULT)?;
    let begun = launch(&current, plan, to, from, StreamHandle::DEFAULT);
    // This waits even after a failure: some of the work may be queued.
    let copied = begun.and(current.synchronize_stream(StreamHandle::DEFAULT));
    to.expose_on_failure(from.expose_on_failure(copied))
}

/// Queues such a copy on a stream of the context, and retains both ends.
pub(super) fn queue(
    stream: &Stream,
    plan: Plan,
    to: &DeviceBuffer,
    from: &DeviceBuffer,
) -> CudaResult<Completed> {
    let retained = Box::new((to.clone(), from.clone()));
    stream.enqueue(retained, |current, stream| launch(current, plan, to, from, stream))
}

fn launch(
    current: &Current<'_>,
    plan: Plan,
    to: &DeviceBuffer,
    from: &DeviceBuffer,
    stream: StreamHandle<'_>,
) -> CudaResult<()> {
    for (span, size) in [(plan.target_span(), to.size), (plan.source_span(), from.size)] {
        assert!(span.start <= span.end && span.end <= size, "{span:?} of {size} bytes");
    }
    for mut launch in launches(plan, to.private_address, from.private_address) {
        let function = Kernels::get(current, launch.kernel)?;
        let mut arguments: [*mut c_void; 1] = [(&raw mut launch.parameter).cast()];
        let shape = (launch.blocks, THREADS);
        // SAFETY: the kernels take one such parameter, and read and write what the plan spans, which
        // lies within the buffers.
        unsafe { current.launch(function, shape, &mut arguments, stream) }?;
    }
    Ok(())
}
