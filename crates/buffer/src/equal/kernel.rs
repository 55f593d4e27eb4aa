//! The kernel that compares device memory, compiled by the driver once a context.

use crate::kernels::{Ptx, THREADS};
use crate::spans::Spans;
use arrow_cuda_context::{Context, Current, Extension, Function, StreamHandle, Unused};
use arrow_cuda_driver::{CudaResult, LongLock, report_failure};
use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};

const DIFFERS: Ptx = Ptx(c"arrow_cuda_differs", include_str!("differs.ptx"));

/// The memory for the kernel's answer, which the driver destroys with the context.
struct Comparison {
    /// Device memory through which the kernel's threads tell each other of a difference.
    found: u64,
    /// If no host memory can be pinned, `found` is the answer, and is copied.
    answer: Option<Answer>,
    /// The number of the last comparison.  Comparisons take turns, as they do on the default
    /// stream.
    last_ticket: LongLock<u64>,
}

impl Extension for Comparison {}

/// A word of host memory that the kernel writes to.
struct Answer {
    /// Never freed, so that it can be read even after the context is destroyed.
    word: &'static AtomicU64,
    device_address: u64,
}

/// The driver pins whole pages, so nothing else should be on this one.  No system has larger ones.
#[repr(align(65536))]
struct Page(AtomicU64);

impl Answer {
    fn register(current: &Current<'_>) -> CudaResult<Self> {
        // Never freed, even after a failure: the driver may still have it pinned.
        let page: &'static mut Page = Box::leak(Box::new(Page(AtomicU64::new(0))));
        let start = std::ptr::from_mut(page).cast();
        // SAFETY: the page stays allocated.
        let device_address = unsafe { current.register_host_memory(start, size_of::<Page>()) }?;
        Ok(Self { word: &page.0, device_address })
    }
}

impl Comparison {
    fn allocate(current: &Current<'_>) -> CudaResult<Self> {
        let found = current.allocate_memory(size_of::<u64>() as u64)?;
        // SAFETY: the memory that was allocated above; kernels come later on the default stream.
        let cleared = unsafe { current.fill_memory(found, 0, size_of::<u64>()) };
        cleared.inspect_err(|_| {
            // SAFETY: nobody else has seen the memory; the driver waits for the fill.
            let released = unsafe { current.release_memory(found, &Unused::promised()) };
            report_failure("device memory", released);
        })?;
        let answer = Answer::register(current).ok();
        Ok(Self { found, answer, last_ticket: LongLock::default() })
    }
}

/// Allocates the answer and compiles the kernel, which takes a little of the context's memory.
pub(super) fn prepare(context: &Context) -> CudaResult<()> {
    prepared(context, &context.enter()?).map(drop)
}

fn prepared<'a>(
    context: &'a Context,
    current: &Current<'_>,
) -> CudaResult<(Function, &'a Comparison)> {
    let comparison = context.extension_or(|| Comparison::allocate(current))?;
    Ok((DIFFERS.function(current)?, comparison))
}

/// Whether `size` bytes, more than 0, at two device addresses of the context differ.
///
/// The kernel answers with the ticket of this comparison, which no earlier one had: nothing has to
/// be cleared before, or copied afterwards.
pub(super) fn differ(context: &Context, left: u64, right: u64, size: usize) -> CudaResult<bool> {
    let current = context.enter()?;
    current.await_turn(StreamHandle::DEFAULT)?;
    let (function, comparison) = prepared(context, &current)?;
    let mut last_ticket = comparison.last_ticket.lock()?;
    *last_ticket += 1;
    let ticket = *last_ticket;
    let spans = Spans::of(left, right, size as u64);
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
    unsafe { current.launch(&function, shape, &mut arguments, StreamHandle::DEFAULT) }?;
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
