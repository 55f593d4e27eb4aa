//! The kernel that selects elements, compiled by the driver once a context.

use super::source::Source;
use crate::kernels::{MAX_BLOCKS, Ptx, THREADS};
use crate::{DeviceBuffer, Error};
use arrow_cuda_context::StreamHandle;
use std::ffi::c_void;

const SELECTED: Ptx = Ptx(c"arrow_cuda_selected", include_str!("selected.ptx"));

/// Fills all elements, of which there is one at least, after the work of the default stream, and waits.
pub(super) fn run(
    to: &DeviceBuffer,
    item_size: usize,
    (bits, first): (&DeviceBuffer, usize),
    sources: [Source<'_>; 2],
) -> Result<(), Error> {
    let context = to.context();
    let (item_size, first) = (item_size as u64, first as u64);
    let ones = sources.map(|source| match source {
        Source::Each(_) => [].as_slice(),
        Source::One(bytes) => bytes,
    });
    let ones = DeviceBuffer::suballocated_from_host(context, &ones)?;
    let places = sources.iter().zip(&ones).map(|(source, one)| match source {
        Source::Each(buffer) => [buffer.private_address, item_size],
        Source::One(_) => [one.private_address, 0],
    });
    let places: Vec<u64> = places.flatten().collect();
    let [set, set_step, clear, clear_step] = places[..] else { return Ok(()) };
    let count = to.size as u64 / item_size;
    let all = to.private_address | set | clear | item_size;
    let word = 1 << all.trailing_zeros().min(4);
    let bits_address = bits.private_address;
    let mut words = [
        to.private_address,
        set,
        set_step,
        clear,
        clear_step,
        bits_address,
        first,
        count,
        item_size,
        word,
    ];
    let mut arguments: [*mut c_void; 10] =
        words.each_mut().map(|word| std::ptr::from_mut(word).cast());
    let blocks = count.div_ceil(THREADS.into()).min(MAX_BLOCKS.into());
    let shape = (u32::try_from(blocks).unwrap_or(MAX_BLOCKS), THREADS);
    let current = context.enter()?;
    current.await_turn(StreamHandle::DEFAULT)?;
    let function = SELECTED.function(&current)?;
    // SAFETY: the kernel takes ten such words.  It writes all elements of the target, and reads the bits and the
    // elements of the sources, which lie within their buffers.
    let begun = unsafe { current.launch(&function, shape, &mut arguments, StreamHandle::DEFAULT) };
    // This waits even after a failure: some of the work may be queued.
    let done = begun.and(current.synchronize_stream(StreamHandle::DEFAULT));
    if done.is_err() {
        // A kernel may still use them.
        ones.iter().chain([to, bits]).for_each(DeviceBuffer::expose);
        for source in sources {
            if let Source::Each(buffer) = source {
                buffer.expose();
            }
        }
    }
    Ok(done?)
}
