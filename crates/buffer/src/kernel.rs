//! The kernel that compares device memory, compiled by the driver once a context.

use arrow_cuda_context::Context;
use arrow_cuda_driver::{CudaError, CudaResult, call};
use cust::module::Module;
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::sync::{Mutex, PoisonError};

const SOURCE: &str = include_str!("differs.ptx");
const NAME: &str = "arrow_cuda_differs";

const THREADS: u32 = 256;
/// Enough blocks to keep every multiprocessor of a large GPU busy.
const MOST_BLOCKS: u64 = 132 * 16;
const BYTES_A_THREAD: u64 = 16;

/// The compiled kernel and the word that it answers in.  Both live as long as the context: its
/// end frees them, and unloading them after that would hand the driver a dead handle.
struct Comparison {
    _module: ManuallyDrop<Module>,
    function: usize,
    answer: Mutex<u64>,
}

impl Comparison {
    /// The context must be current.
    fn compile() -> CudaResult<Self> {
        let module = Module::from_ptx(SOURCE, &[]).map_err(CudaError::last)?;
        let function = module.get_function(NAME).map_err(CudaError::last)?.to_raw() as usize;
        let mut answer = 0u64;
        // SAFETY: stores an address through the pointer, which outlives the call.
        unsafe { call!(cuMemAlloc_v2((&raw mut answer).cast(), size_of::<u32>())) }?;
        Ok(Self { _module: ManuallyDrop::new(module), function, answer: Mutex::new(answer) })
    }
}

/// Whether `size` bytes, more than 0, at two device addresses of the context differ.
pub(crate) fn differ(context: &Context, a: u64, b: u64, size: u64) -> CudaResult<bool> {
    let _current = context.enter()?;
    let comparison = context.attachment(Comparison::compile)?;
    // One answer word a context: comparisons take turns, as they do on the default stream.
    let answer = comparison.answer.lock().unwrap_or_else(PoisonError::into_inner);
    let blocks = size.div_ceil(u64::from(THREADS) * BYTES_A_THREAD).clamp(1, MOST_BLOCKS);
    let blocks = u32::try_from(blocks).expect("at most MOST_BLOCKS");
    let mut arguments = [a, b, size, *answer];
    let mut parameters: [*mut c_void; 4] =
        arguments.each_mut().map(|argument| std::ptr::from_mut(argument).cast());
    let default_stream: *mut c_void = std::ptr::null_mut();
    let no_options: *mut c_void = std::ptr::null_mut();
    let mut differs = 0u32;
    // SAFETY: the kernel takes four 8-byte values and reads `size` bytes at two addresses that
    // the caller found valid; it writes the answer word, which is ours.  The last copy waits.
    unsafe {
        call!(cuMemsetD32_v2(*answer, 0, 1))?;
        call!(cuLaunchKernel(
            comparison.function as *mut c_void,
            blocks,
            1,
            1,
            THREADS,
            1,
            1,
            0,
            default_stream,
            parameters.as_mut_ptr().cast(),
            no_options
        ))?;
        call!(cuMemcpyDtoH_v2((&raw mut differs).cast(), *answer, size_of::<u32>()))?;
    }
    Ok(differs != 0)
}
