//! Kernels of modules.

use crate::{Adopted, Context, Function};
use arrow_cuda_driver::{CudaResult, check_cudarc};
use cudarc::driver::CudaFunction;
use std::sync::Arc;

impl Function {
    /// A kernel of a module of `cudarc` in `context`, which the result and its clones keep loaded.
    ///
    /// The module must not be unloaded while its kernels run: a clone has to live until they are done.  There is no
    /// way back, because only `cudarc` can make its functions.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Function, StreamHandle};
    /// use cudarc::nvrtc::Ptx; // with cudarc's feature `nvrtc`
    ///
    /// # let text = ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry kernel() { ret; }";
    /// let context = Context::primary(0)?;
    /// let module = context.to_cudarc()?.load_module(Ptx::from_src(text))?;
    /// let kernel = Function::from_cudarc(&context, module.load_function("kernel")?)?;
    /// // SAFETY: the kernel takes no arguments, and does nothing.
    /// unsafe { context.enter()?.launch(&kernel, (1, 32), &mut [], StreamHandle::DEFAULT) }?;
    /// context.synchronize()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`CudaError::OtherDriver`](arrow_cuda_driver::CudaError::OtherDriver) if `cudarc` has loaded another driver.
    pub fn from_cudarc(context: &Context, function: CudaFunction) -> CudaResult<Self> {
        check_cudarc()?;
        let raw = function.cu_function() as usize;
        let module = Adopted::new(context, "a module of cudarc", function);
        Ok(Self { raw, _module: Some(Arc::new(module)) })
    }
}
