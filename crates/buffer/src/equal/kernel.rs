//! The kernel that compares device memory, compiled by the driver once a context.

use super::spans::{Spans, THREADS};
use arrow_cuda_context::{Context, Current, Extension, Function, StreamHandle};
use arrow_cuda_driver::{CudaResult, Lock, report_failure};
use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

/// With a NUL at its end, as the driver wants it.
const PTX: &str = concat!(include_str!("differs.ptx"), "\0");
const NAME: &CStr = c"arrow_cuda_differs";

/// The text of the kernel.
pub(super) fn source() -> &'static CStr {
    CStr::from_bytes_with_nul(PTX.as_bytes()).expect("PTX holds no NUL")
}

/// The compiled kernel, and what it answers by.  All of it goes with the context: to release it later
/// would hand the driver a dead handle.
struct Comparison {
    function: Function,
    /// Device memory: by which the kernel's threads tell each other.
    found: u64,
    /// Where no host memory can be page-locked, `found` is the answer, and is copied.
    answer: Option<Answer>,
    /// The number of the last comparison.  They take turns, as they do on the default stream.
    last_ticket: Lock<u64>,
}

impl Extension for Comparison {}

/// A word of host memory that the kernel writes to.
struct Answer {
    /// Allocated for good, so that it can be read whatever becomes of the context.
    word: &'static AtomicU64,
    device_address: u64,
}

/// The driver locks whole pages, so there should be nothing else on this one.
#[repr(align(4096))]
struct Page(AtomicU64);

impl Answer {
    fn register(current: &Current<'_>) -> CudaResult<Self> {
        // Never freed, also after a failure: the driver may have it all the same.
        let page: &'static mut Page = Box::leak(Box::new(Page(AtomicU64::new(0))));
        let start = std::ptr::from_mut(page).cast();
        // SAFETY: the page stays allocated.
        let device_address = unsafe { current.register_host_memory(start, size_of::<Page>()) }?;
        Ok(Self { word: &page.0, device_address })
    }
}

impl Comparison {
    fn compile(current: &Current<'_>) -> CudaResult<Self> {
        let found = current.allocate_memory(size_of::<u64>() as u64)?;
        // SAFETY: the memory that was allocated above; kernels come later on the default stream.
        let cleared = unsafe { current.fill_memory(found, 0, size_of::<u64>()) };
        // What can fail for want of memory comes before, since the module stays loaded.
        let loaded = cleared.and_then(|()| current.load_function(source(), NAME));
        let function = loaded.inspect_err(|_| {
            // SAFETY: nobody else has seen the memory.
            report_failure("device memory", unsafe { current.release_memory(found) });
        })?;
        let answer = Answer::register(current).ok();
        Ok(Self { function, found, answer, last_ticket: Lock::default() })
    }

    fn of<'context>(
        context: &'context Context,
        current: &Current<'_>,
    ) -> CudaResult<&'context Self> {
        context.extension_or(|| Self::compile(current))
    }
}

/// Makes what comparisons in the context need, which takes a little of its memory.
pub(super) fn prepare(context: &Context) -> CudaResult<()> {
    Comparison::of(context, &context.enter()?).map(drop)
}

/// Whether `size` bytes, more than 0, at two device addresses of the context differ.
///
/// The kernel says so by a number that no comparison before had: nothing has to be cleared before,
/// nor copied afterwards.
pub(super) fn differ(context: &Context, left: u64, right: u64, size: u64) -> CudaResult<bool> {
    let current = context.enter()?;
    let comparison = Comparison::of(context, &current)?;
    let mut last_ticket = comparison.last_ticket.lock()?;
    *last_ticket += 1;
    let ticket = *last_ticket;
    let spans = Spans::of(left, right, size);
    let found = comparison.found;
    let answer = comparison.answer.as_ref();
    let mut arguments = [
        left,
        right,
        spans.head,
        spans.vectors,
        spans.tail,
        found,
        answer.map_or(found, |answer| answer.device_address),
        ticket,
    ];
    let mut arguments: [*mut c_void; 8] =
        arguments.each_mut().map(|argument| std::ptr::from_mut(argument).cast());
    let shape = (spans.blocks(), THREADS);
    // SAFETY: the kernel takes eight 8-byte values and reads `size` bytes at two addresses that the
    // caller found valid; it writes to two words, which are ours.
    unsafe { current.launch(comparison.function, shape, &mut arguments, StreamHandle::DEFAULT) }?;
    let Some(answer) = answer else {
        let mut answer = 0u64;
        let out = (&raw mut answer).cast();
        // SAFETY: a word of device memory, copied to a word that outlives the call, which waits.
        unsafe { current.copy_to_host(out, found, size_of::<u64>()) }?;
        return Ok(answer == ticket);
    };
    current.synchronize_stream(StreamHandle::DEFAULT)?;
    Ok(answer.word.load(Ordering::Acquire) == ticket)
}
