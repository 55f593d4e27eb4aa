//! The kernels that copy between layouts, each compiled by the driver once a context.

use super::launches::{Kernel, launches};
use super::plan::Plan;
use crate::kernels::{Ptx, THREADS};
use crate::{DeviceBuffer, Error};
use arrow_cuda_context::{Completed, Current, Stream, StreamHandle};
use arrow_cuda_driver::CudaResult;
use std::ffi::c_void;

const STRIDED: Ptx = Ptx(c"arrow_cuda_strided", include_str!("strided.ptx"));
const TRANSPOSED: Ptx = Ptx(c"arrow_cuda_transposed", include_str!("transposed.ptx"));

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
        assert!(span.start <= span.end && span.end <= size as u64, "{span:?} of {size} bytes");
    }
    for mut launch in launches(plan, to.private_address, from.private_address) {
        let ptx = match launch.kernel {
            Kernel::Strided => STRIDED,
            Kernel::Transposed => TRANSPOSED,
        };
        let function = ptx.function(current)?;
        let mut arguments: [*mut c_void; 1] = [(&raw mut launch.parameter).cast()];
        let shape = (launch.blocks, THREADS);
        // SAFETY: the kernels take one such parameter, and read and write what the plan spans, which
        // lies within the buffers.
        unsafe { current.launch(&function, shape, &mut arguments, stream) }?;
    }
    Ok(())
}
