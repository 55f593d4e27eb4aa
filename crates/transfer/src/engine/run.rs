//! Decides whether to stage a task through pinned memory, and runs it.

use super::device_engine::Engine;
use super::fresh;
use super::host::HostMemory;
use super::job::{Job, Task};
use super::plan::{MIN_WAITING, MIN_WAKING, Plan};
use super::settings::transfer_limits;
use crate::pinned;
use arrow_cuda_context::{Current, StreamHandle};
use arrow_cuda_driver::CudaResult;
use std::sync::Arc;

/// Runs a task between host memory and device memory at an address.  Returns whether a comparison
/// has found a difference, or `None` if the driver should do the work: the copy is small, the
/// memory is pinned already, no thread can be started, no memory can be pinned, or other copies
/// keep the threads busy.
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
    // The owner of a borrowed context would destroy the engine's resources with it.
    if !(context.is_primary() && context.is_numbered()) {
        return Ok(None);
    }
    if let Some(start) = host.contiguous_start()
        && pinned::is_device_accessible(current, start, host.size())?
    {
        return Ok(None); // the device copies pinned memory directly, at full speed
    }
    let engine = Engine::of(context);
    if !engine.should_start(host.size(), &limits) {
        return Ok(None);
    }
    let Some(mut resources) = engine.lock(host.size() >= MIN_WAITING)? else { return Ok(None) };
    let Some((workers, ring, slots)) = resources.prepare(context, &limits) else { return Ok(None) };
    if host.size() < MIN_WAKING && !workers.is_spinning() {
        return Ok(None);
    }
    // The threads could only wait for the work that is queued before, too.
    current.synchronize_stream(StreamHandle::DEFAULT)?;
    if task == Task::Download {
        for (address, _, length) in host.runs(0, host.size()) {
            fresh::prefer_huge_pages(address as usize, length);
        }
    }
    // SAFETY: no thread accesses the memory once the job is closed, and every path below closes it.
    let host = unsafe { host.without_lifetime() };
    let job = Arc::new(Job::new(task, host, piece, ring.slots(), slots));
    workers.post(&job, threads);
    let moved = ring.issue(current, &job, device);
    job.close();
    moved.map(|()| Some(job.differs()))
}
