//! Compiled code, and launching it.

use super::StreamHandle;
use crate::Current;
use crate::out_param::out_param;
use arrow_cuda_driver::{CudaResult, call, report_failure};
use std::any::Any;
use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::Arc;

/// A kernel.  Its module stays loaded as long as the context exists; if another library has loaded it, as long as this or
/// a clone lives.
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
