//! Kernels of modules.

use crate::{Adopted, Context, Function};
use arrow_cuda_driver::{CudaError, CudaResult};
use std::sync::Arc;

impl Function {
    /// A kernel of a module of `cust` that is never unloaded.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Function};
    /// use cust::module::Module;
    ///
    /// # let text = ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry kernel() { ret; }";
    /// let context = Context::primary(0)?;
    /// let current = context.enter()?;
    /// let module: &'static Module = Box::leak(Box::new(Module::from_ptx(text, &[]).expect("PTX")));
    /// let theirs = module.get_function("kernel").expect("a kernel");
    /// let ours = Function::from_cust(&theirs);
    /// assert_eq!(ours.to_cust().to_raw(), theirs.to_raw());
    /// # Ok::<(), arrow_cuda_driver::CudaError>(())
    /// ```
    pub fn from_cust(function: &cust::function::Function<'static>) -> Self {
        Self { raw: function.to_raw() as usize, _module: None }
    }

    /// A kernel of a module of `cust`, which the result and its clones keep loaded.
    ///
    /// The module must not be unloaded while its kernels run: a clone has to live until they are done.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Function, Stream};
    /// use cust::module::Module;
    /// use std::sync::Arc;
    ///
    /// # let text = ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry kernel() { ret; }";
    /// let context = Context::primary(0)?;
    /// let stream = Stream::new(&context)?;
    /// let current = context.enter()?;
    /// let module = Arc::new(Module::from_ptx(text, &[]).expect("PTX"));
    /// let kernel = Function::of_cust_module(&context, module, "kernel")?;
    /// // SAFETY: the kernel takes no arguments, and does nothing.
    /// unsafe { current.launch(&kernel, (1, 32), &mut [], stream.handle()) }?;
    /// stream.synchronize()?;
    /// # Ok::<(), arrow_cuda_driver::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_NOT_FOUND` when the module has no such kernel, or driver errors.
    ///
    /// # Panics
    ///
    /// When the name contains a NUL, in `cust`.
    pub fn of_cust_module(
        context: &Context,
        module: Arc<cust::module::Module>,
        name: &str,
    ) -> CudaResult<Self> {
        let _current = context.enter()?;
        let raw = module.get_function(name).map_err(CudaError::last)?.to_raw() as usize;
        let module = Adopted::new(context, "a module of cust", module);
        Ok(Self { raw, _module: Some(Arc::new(module)) })
    }

    /// The kernel for functions of `cust`, such as its `launch!`, whose safety rules then apply.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// # let ptx = c".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry kernel() { ret; }";
    /// let context = Context::primary(0)?;
    /// let (current, stream) = (context.enter()?, Stream::new(&context)?);
    /// let kernel = current.load_function(ptx, c"kernel")?;
    /// let (function, queue) = (kernel.to_cust(), stream.as_cust());
    /// // SAFETY: the kernel takes no arguments, and does nothing.
    /// unsafe { cust::launch!(function<<<1, 32, 0, queue>>>()) }.expect("nothing has failed");
    /// stream.synchronize()?;
    /// assert!(stream.is_complete()?);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    pub fn to_cust(&self) -> cust::function::Function<'_> {
        let raw = self.raw as cust::sys::CUfunction;
        // SAFETY: cust's function holds its handle and nothing else, which the compiler finds by its
        // size, and the assertion below by its value; the module stays as long as this.
        let function = unsafe {
            std::mem::transmute::<cust::sys::CUfunction, cust::function::Function<'_>>(raw)
        };
        assert_eq!(function.to_raw(), raw, "cust's function is its handle");
        function
    }
}
