//! When the steps of a copy are made.

use super::kernel;
use super::plan::Plan;
use crate::{DeviceBuffer, Error};
use arrow_cuda_context::{Completed, Context, Stream};
use arrow_cuda_driver::CudaResult;

/// When the steps of a copy are made.
#[derive(Clone, Copy)]
pub(super) enum Order<'a> {
    /// Now, each in the order of its context's legacy default stream.
    Now,
    /// When a stream of either context comes to them.
    On(&'a Stream),
}

impl Order<'_> {
    /// Makes a copy that is plain, or else lies within one context, where its ends do not overlap.
    pub(super) fn copy(
        self,
        plan: Plan,
        to: &DeviceBuffer,
        from: &DeviceBuffer,
    ) -> Result<Completed, Error> {
        if plan.is_plain() {
            let (to, from) = (to.slice(plan.to, plan.run)?, from.slice(plan.from, plan.run)?);
            return match self {
                Self::Now => to.copy_from_device(0, &from).map(|()| Completed::default()),
                Self::On(stream) => to.queue_copy_from_device(stream, 0, &from),
            };
        }
        to.check_memory()?;
        from.check_memory()?;
        Ok(match self {
            Self::Now => kernel::copy(plan, to, from).map(|()| Completed::default()),
            Self::On(stream) => {
                on_a_stream_of(to.context(), stream, |stream| kernel::queue(stream, plan, to, from))
            }
        }?)
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
