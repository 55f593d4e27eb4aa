//! Compiled code, and launching it.

use super::StreamHandle;
use crate::Current;
use crate::out_param::out_param;
use arrow_cuda_driver::{CudaResult, call, report_failure};
use std::any::Any;
use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::Arc;

/// A kernel.  Its module stays loaded as long as the context exists; if another library has loaded it, as long as
/// this or a clone lives.
///
/// ```
/// use arrow_cuda_context::{Context, Function, StreamHandle};
///
/// # let ptx = c".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry kernel() { ret; }";
/// let context = Context::primary(0)?;
/// let current = context.enter()?;
/// let kernel: Function = current.load_function(ptx, c"kernel")?;
/// // SAFETY: the kernel takes no arguments, and does nothing.
/// unsafe { current.launch(&kernel, (1, 32), &mut [], StreamHandle::DEFAULT) }?;
/// current.synchronize()?;
/// assert!(current.is_stream_complete(StreamHandle::DEFAULT)?);
/// # Ok::<(), arrow_cuda_context::CudaError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Function {
    pub(crate) raw: usize,
    /// The module of another library, which this keeps loaded.
    pub(crate) _module: Option<Arc<dyn Any + Send + Sync>>,
}

impl Current<'_> {
    /// Compiles PTX for the context's device and finds a kernel in it.
    ///
    /// The module stays loaded once the kernel is found: the driver destroys it with the context.
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    ///
    /// # let ptx = c".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry kernel() { ret; }";
    /// let context = Context::primary(0)?;
    /// let current = context.enter()?;
    /// assert!(current.load_function(ptx, c"kernel").is_ok());
    /// assert!(current.load_function(ptx, c"missing").is_err());
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors, when it cannot compile the text, or finds no such kernel.
    pub fn load_function(&self, ptx: &CStr, name: &CStr) -> CudaResult<Function> {
        let text = ptx.as_ptr().cast_mut().cast();
        let name = name.as_ptr().cast_mut().cast();
        // SAFETY: stores a handle; the driver reads the text to its NUL.
        let module = out_param(ptr::null_mut(), |at| unsafe { call!(cuModuleLoadData(at, text)) })?;
        // SAFETY: as above, with the module that was loaded.
        let function =
            out_param(0usize, |at| unsafe { call!(cuModuleGetFunction(at, module, name)) });
        function.map(|raw| Function { raw, _module: None }).inspect_err(|_| {
            // SAFETY: nobody else has seen the module.
            report_failure("a module", unsafe { call!(cuModuleUnload(module)) });
        })
    }

    /// Queues a kernel on a stream, in `blocks` blocks of `threads` threads.
    ///
    /// ```
    /// use arrow_cuda_context::{Block, Context, Placement, StreamHandle};
    ///
    /// let ptx = c".version 6.0
    ///     .target sm_50
    ///     .address_size 64
    ///     .visible .entry seven(.param .u64 out) {
    ///         .reg .b32 %value;
    ///         .reg .b64 %to;
    ///         mov.u32 %value, 7;
    ///         ld.param.u64 %to, [out];
    ///         st.global.u32 [%to], %value;
    ///         ret;
    ///     }";
    /// let context = Context::primary(0)?;
    /// let block = Block::allocate(&context, 4, Placement::Packed)?;
    /// let (current, mut address, mut out) = (context.enter()?, block.private_address(), [0; 4]);
    /// let kernel = current.load_function(ptx, c"seven")?;
    /// // SAFETY: the kernel takes an address, to which it writes 4 bytes; the copy has room for them, and comes later.
    /// unsafe {
    ///     current.launch(&kernel, (1, 1), &mut [(&raw mut address).cast()], StreamHandle::DEFAULT)?;
    ///     current.copy_to_host(out.as_mut_ptr(), address, 4)?;
    /// }
    /// assert_eq!(u32::from_le_bytes(out), 7);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_INVALID_VALUE` for more blocks or threads than the device has; other driver errors.  What goes
    /// wrong while the kernel runs is an error of a later call.
    ///
    /// # Safety
    ///
    /// The function must have been loaded in this context and take as many arguments, each as large
    /// as what its pointer points to; what it does with them must be sound.  A module of another library has to stay
    /// loaded until the work is complete.
    pub unsafe fn launch(
        &self,
        function: &Function,
        (blocks, threads): (u32, u32),
        arguments: &mut [*mut c_void],
        stream: StreamHandle<'_>,
    ) -> CudaResult<()> {
        let no_options: *mut c_void = ptr::null_mut();
        let arguments = arguments.as_mut_ptr().cast();
        let stream = self.raw_stream_for_work(stream)?;
        // SAFETY: guaranteed by the caller.
        unsafe {
            call!(cuLaunchKernel(
                function.raw as *mut c_void,
                blocks,
                1,
                1,
                threads,
                1,
                1,
                0,
                stream,
                arguments,
                no_options
            ))
        }
    }
}
