//! The kernel that fills ranges, compiled by the driver once a context.

use super::parts::{Part, Parts};
use crate::kernels::{MAX_BLOCKS, Ptx, THREADS};
use crate::{DeviceBuffer, Error};
use arrow_cuda_context::{Context, Current, Function, StreamHandle};
use std::ffi::c_void;

const JOINED: Ptx = Ptx(c"arrow_cuda_joined", include_str!("joined.ptx"));

/// Fills the parts, after the work of the default stream, and waits.  The ranges of `cleared` become 0 before.
pub(super) fn run(context: &Context, parts: &Parts, cleared: &[(u64, usize)]) -> Result<(), Error> {
    let tables = [&parts.first, &parts.second].map(|parts| bytemuck::cast_slice(parts));
    let tables = DeviceBuffer::suballocated_from_host(context, &tables)?;
    let current = context.enter()?;
    current.await_turn(StreamHandle::DEFAULT)?;
    let function = JOINED.function(&current)?;
    let queue = || {
        for (to, size) in cleared.iter().copied().filter(|(_, size)| *size > 0) {
            // SAFETY: a buffer of that size, or what lies between two, which the caller retains.
            unsafe { current.queue_fill(to, 0, size, StreamHandle::DEFAULT) }?;
        }
        tables.iter().try_for_each(|table| launch(&current, &function, table))
    };
    // This waits even after a failure: some of the work may be queued.
    let done = queue().and(current.synchronize_stream(StreamHandle::DEFAULT));
    if done.is_err() {
        // A kernel may still read them.
        tables.iter().for_each(DeviceBuffer::expose);
    }
    Ok(done?)
}

fn launch(
    current: &Current<'_>,
    function: &Function,
    table: &DeviceBuffer,
) -> arrow_cuda_driver::CudaResult<()> {
    let mut words = [table.private_address, (table.size / size_of::<Part>()) as u64];
    let Ok(blocks @ 1..) = u32::try_from(words[1].min(MAX_BLOCKS.into())) else { return Ok(()) };
    let mut arguments: [*mut c_void; 2] =
        words.each_mut().map(|word| std::ptr::from_mut(word).cast());
    let shape = (blocks, THREADS);
    // SAFETY: the kernel takes two such words, and reads and writes what the parts of the table span, which
    // lies within buffers that the caller retains.
    unsafe { current.launch(function, shape, &mut arguments, StreamHandle::DEFAULT) }
}
