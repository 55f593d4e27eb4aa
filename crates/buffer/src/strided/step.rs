//! The steps of a copy between layouts, in any order.

use super::kernel;
use super::plan::Plan;
use crate::{DeviceBuffer, Error};
use arrow_cuda_context::{Completed, Context, Stream};
use arrow_cuda_driver::CudaResult;
use arrow_cuda_transfer::CopyOrder;

/// Makes a copy that is plain, or else lies within one context, where its ends do not overlap.
pub(super) fn copy(
    order: CopyOrder<'_>,
    plan: Plan,
    to: &DeviceBuffer,
    from: &DeviceBuffer,
) -> Result<Completed, Error> {
    if plan.is_plain() {
        let (to, from) = (to.slice(plan.to, plan.run)?, from.slice(plan.from, plan.run)?);
        return to.copy_from_device_in(order, 0, &from);
    }
    to.check_memory()?;
    from.check_memory()?;
    match order {
        CopyOrder::Now => kernel::copy(plan, to, from).map(|()| Completed::default()),
        CopyOrder::On(stream) => {
            let queue = |stream: &Stream| kernel::queue(stream, plan, to, from);
            Ok(on_a_stream_of(to.context(), stream, queue)?)
        }
    }
}

/// Queues the work of a context in the order of a stream of another one, if it is of another: kernels
/// run on streams of their own context only.
fn on_a_stream_of(
    context: &Context,
    stream: &Stream,
    work: impl FnOnce(&Stream) -> CudaResult<Completed>,
) -> CudaResult<Completed> {
    if stream.context().is_same(context) {
        return work(stream);
    }
    let there = Stream::non_blocking(context)?;
    // Queued as work, so that a stream that is being captured is refused.
    let mut completed = stream.enqueue(Box::new(()), |_, _| there.wait_for(&stream.record()?))?;
    completed.extend(work(&there)?);
    stream.wait_for(&there.record()?)?;
    Ok(completed)
}
