//! Whether a task goes through page-locked memory, and how it is carried out then.

use super::device_engine::Engine;
use super::fresh;
use super::host::HostMemory;
use super::job::{Job, Task};
use super::plan::{Plan, WORTH_WAITING, WORTH_WAKING};
use super::settings::transfer_limits;
use crate::pinned;
use arrow_cuda_context::{Current, StreamHandle};
use arrow_cuda_driver::CudaResult;
use std::sync::Arc;

/// Carries out a task between host memory and the device's memory at an address: whether a comparison
/// has found a difference.  None where the driver is to do it: the copy is small, the memory is
/// page-locked already, no thread can be started, no memory can be page-locked, or other copies keep
/// the threads busy.
///
/// # Safety
///
/// As many bytes at `device` must be live memory of the current context's device; in an upload they
/// must be the caller's to write.
pub(crate) unsafe fn run(
    current: &Current<'_>,
    task: Task,
    host: HostMemory<'_>,
    device: u64,
) -> CudaResult<Option<bool>> {
    let (limits, context) = (transfer_limits(), current.context());
    let Plan::Staged { threads, piece } = limits.plan(task, host.size()) else { return Ok(None) };
    // What is made in a borrowed context would go when its maker destroys it.
    if !(context.is_primary() && context.is_numbered()) {
        return Ok(None);
    }
    if let Some(start) = host.start_of_only_part()
        && pinned::is_known(current, start, host.size())?
    {
        return Ok(None); // the device moves it itself, at full speed
    }
    let engine = Engine::of(context);
    if !engine.is_worth_it(host.size(), &limits) {
        return Ok(None);
    }
    let Some(mut resources) = engine.lock(host.size() >= WORTH_WAITING)? else { return Ok(None) };
    let Some((workers, ring, slots)) = resources.ready(context, &limits) else { return Ok(None) };
    if host.size() < WORTH_WAKING && !workers.is_alert() {
        return Ok(None);
    }
    // The threads would only wait as well for what is queued before.
    current.synchronize_stream(StreamHandle::DEFAULT)?;
    if task == Task::Download {
        for (address, _, length) in host.stretches(0, host.size()) {
            fresh::prefer_huge_pages(address as usize, length);
        }
    }
    // SAFETY: nobody touches it after the job was closed, which nothing below comes before.
    let host = unsafe { host.unbound() };
    let job = Arc::new(Job::new(task, host, piece, ring.slots(), slots));
    workers.post(&job, threads);
    let moved = ring.issue(current, &job, device);
    job.close();
    moved.map(|()| Some(job.differs()))
}
