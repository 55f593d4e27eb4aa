//! The kernel that compares device memory, compiled by the driver once a context.

use crate::spans::{Spans, THREADS};
use arrow_cuda_context::{Context, DEFAULT_STREAM};
use arrow_cuda_driver::{CudaError, CudaResult, call, report_failure};
use cust::module::Module;
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

pub(crate) const SOURCE: &str = include_str!("differs.ptx");
const NAME: &str = "arrow_cuda_differs";

/// The compiled kernel, and what it answers by.  All of it lives as long as the context, whose end
/// frees it: unloading it after that would hand the driver a dead handle.
struct Comparison {
    _module: ManuallyDrop<Module>,
    function: usize,
    /// Device memory: by which the kernel's threads tell each other.
    found: u64,
    /// Where no host memory can be pinned, `found` is the answer, and is copied.
    answer: Option<Answer>,
    /// The number of the last comparison.  They take turns, as they do on the default stream.
    last_ticket: Mutex<u64>,
}

/// A word of host memory that the kernel writes to.
struct Answer {
    /// Our own for good, so that it can be read whatever becomes of the context.
    word: &'static AtomicU64,
    device_address: u64,
}

/// The driver pins whole pages, so there should be nothing else on this one.
#[repr(align(4096))]
struct Page(AtomicU64);

impl Answer {
    /// The context must be current.
    fn pin() -> CudaResult<Self> {
        const PORTABLE_AND_MAPPED: u32 = 3;
        let page = Box::into_raw(Box::new(Page(AtomicU64::new(0))));
        // SAFETY: the page is ours, and is freed only where the driver does not have it.
        unsafe {
            let size = size_of::<Page>();
            call!(cuMemHostRegister_v2(page.cast(), size, PORTABLE_AND_MAPPED))
                .inspect_err(|_| drop(Box::from_raw(page)))?;
            let mut device_address = 0u64;
            call!(cuMemHostGetDevicePointer_v2((&raw mut device_address).cast(), page.cast(), 0))
                .inspect_err(|_| {
                let unpinned = call!(cuMemHostUnregister(page.cast()));
                if unpinned.is_ok() {
                    drop(Box::from_raw(page));
                }
                report_failure("pinned host memory", unpinned);
            })?;
            // Never freed from here on.
            Ok(Self { word: &(*page).0, device_address })
        }
    }
}

impl Comparison {
    /// The context must be current.
    fn compile() -> CudaResult<Self> {
        let module = Module::from_ptx(SOURCE, &[]).map_err(CudaError::last)?;
        let function = module.get_function(NAME).map_err(CudaError::last)?.to_raw() as usize;
        let mut found = 0u64;
        // SAFETY: stores an address through the pointer, which outlives the call.
        unsafe { call!(cuMemAlloc_v2((&raw mut found).cast(), size_of::<u64>())) }?;
        // SAFETY: the memory that was allocated above; kernels come later on the default stream.
        unsafe { call!(cuMemsetD8_v2(found, 0, size_of::<u64>())) }.inspect_err(|_| {
            // SAFETY: nobody else has seen the memory.
            report_failure("device memory", unsafe { call!(cuMemFree_v2(found)) });
        })?;
        let answer = Answer::pin().ok();
        let module = ManuallyDrop::new(module);
        Ok(Self { _module: module, function, found, answer, last_ticket: Mutex::new(0) })
    }
}

/// Makes what comparisons in the context need, which takes a little of its memory.
pub(crate) fn prepare(context: &Context) -> CudaResult<()> {
    let _current = context.enter()?;
    context.attachment(Comparison::compile).map(drop)
}

/// Whether `size` bytes, more than 0, at two device addresses of the context differ.
///
/// The kernel says so by a number that no comparison before had: nothing has to be cleared before,
/// nor copied afterwards.
pub(crate) fn differ(context: &Context, left: u64, right: u64, size: u64) -> CudaResult<bool> {
    let _current = context.enter_unless_gone()?;
    let comparison = context.attachment(Comparison::compile)?;
    let mut last_ticket = comparison.last_ticket.lock().unwrap_or_else(PoisonError::into_inner);
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
    let mut parameters: [*mut c_void; 8] =
        arguments.each_mut().map(|argument| std::ptr::from_mut(argument).cast());
    let no_options: *mut c_void = std::ptr::null_mut();
    // SAFETY: the kernel takes eight 8-byte values and reads `size` bytes at two addresses that
    // the caller found valid; it writes to two words, which are ours.
    unsafe {
        call!(cuLaunchKernel(
            comparison.function as *mut c_void,
            spans.blocks(),
            1,
            1,
            THREADS,
            1,
            1,
            0,
            DEFAULT_STREAM,
            parameters.as_mut_ptr().cast(),
            no_options
        ))?;
    }
    let Some(answer) = answer else {
        let mut answer = 0u64;
        // SAFETY: a word of device memory, copied to a word that outlives the call, which waits.
        unsafe { call!(cuMemcpyDtoH_v2((&raw mut answer).cast(), found, size_of::<u64>())) }?;
        return Ok(answer == ticket);
    };
    // SAFETY: the null handle is the default stream of the current context.
    unsafe { call!(cuStreamSynchronize(DEFAULT_STREAM)) }?;
    Ok(answer.word.load(Ordering::Acquire) == ticket)
}
