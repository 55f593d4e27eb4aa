//! Kernels of modules.

use crate::Function;

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
        Self(function.to_raw() as usize)
    }

    /// The kernel for functions of `cust`, such as its `launch!`, whose safety rules then apply.
    pub fn to_cust(self) -> cust::function::Function<'static> {
        let raw = self.0 as cust::sys::CUfunction;
        // SAFETY: cust's function holds its handle and nothing else, which the compiler finds by its
        // size, and the assertion below by its value; the module stays as long as the context.
        let function = unsafe {
            std::mem::transmute::<cust::sys::CUfunction, cust::function::Function<'static>>(raw)
        };
        assert_eq!(function.to_raw(), raw, "cust's function is its handle");
        function
    }
}
