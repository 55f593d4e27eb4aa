//! [`sys`]: sys
//! [`call!`]: call!
//! [`CudaError`]: CudaError
#![doc = include_str!("../README.md")] // with the links above
#![cfg_attr(docsrs, feature(doc_cfg))] // docs.rs shows which feature an item needs

// So no conversion between `usize` and the `u64` of addresses loses anything, in any crate.
#[cfg(not(target_pointer_width = "64"))]
compile_error!("there are CUDA drivers for 64-bit systems only");

mod blocking;
pub mod codes;
#[cfg(feature = "cudarc")]
#[expect(clippy::disallowed_macros, reason = "asks for a text, which needs no context")]
mod cudarc_library;
#[cfg(feature = "cust")]
mod cust_symbols;
mod environment;
mod error;
mod forward;
mod functions;
mod held_locks;
mod interrupt;
mod library;
mod lifecycle;
mod lock;
mod report;
mod waits;

pub use blocking::{
    InterpreterCheck, Runner, blocking, holds_interpreter, keeping_interpreter,
    set_blocking_runner, set_interpreter_check, without_interpreter,
};
#[cfg(feature = "cudarc")]
pub use cudarc_library::check_cudarc;
pub use environment::{Misuse, Variable};
pub use error::{AllocatorError, CallError, CudaError, CudaResult, DeviceMemory};
pub use functions::{IpcHandle, sys};
pub use held_locks::{holds_lock, holds_short_lock, without_locks};
pub use interrupt::{Check, Interruption, Patience, interruptible, uninterrupted};
pub use library::{DRIVER_VARIABLE, LoadError, linker_message};
pub use lifecycle::{begin_exit, is_exiting, is_forked_child, may_release};
pub use lock::{Lock, LockGuard, LongLock};
pub use report::{Reporter, report, report_failure, set_reporter};

/// Calls a driver function and turns its result code into a [`CudaResult`].
///
/// The macro takes the function's name from the call itself, so an error never blames another
/// function.  Like the call, the macro has to stand in an `unsafe` block.
///
/// ```
/// use arrow_cuda_driver::{CudaError, call};
///
/// // SAFETY: takes no pointers.
/// unsafe { call!(cuInit(0)) }?;
/// let mut count = 0i32;
/// // SAFETY: `count` outlives the call.
/// unsafe { call!(cuDeviceGetCount((&raw mut count).cast())) }?;
/// assert!(count > 0);
/// # Ok::<(), CudaError>(())
/// ```
#[macro_export]
macro_rules! call {
    ($function:ident($($arg:expr),* $(,)?)) => {
        match $crate::sys::$function($($arg),*) {
            0 => Ok(()),
            code => Err($crate::CudaError::of_call(stringify!($function), code)),
        }
    };
}

/// Calls a driver function that answers whether something is complete: `CUDA_ERROR_NOT_READY` becomes
/// `Ok(false)`, at no cost, and success `Ok(true)`.
///
/// ```
/// use arrow_cuda_driver::{CudaError, query};
///
/// # let mut context: *mut std::ffi::c_void = std::ptr::null_mut();
/// # // SAFETY: the handle outlives the calls.
/// # unsafe {
/// #     arrow_cuda_driver::call!(cuInit(0))?;
/// #     arrow_cuda_driver::call!(cuDevicePrimaryCtxRetain((&raw mut context).cast(), 0))?;
/// #     arrow_cuda_driver::call!(cuCtxSetCurrent(context))?;
/// # }
/// // SAFETY: null stands for the current context's default stream.
/// assert!(unsafe { query!(cuStreamQuery(std::ptr::null_mut())) }?);
/// # Ok::<(), CudaError>(())
/// ```
#[macro_export]
macro_rules! query {
    ($function:ident($($arg:expr),* $(,)?)) => {
        match $crate::sys::$function($($arg),*) {
            0 => Ok(true),
            $crate::codes::NOT_READY => Ok(false),
            code => Err($crate::CudaError::of_call(stringify!($function), code)),
        }
    };
}

/// The name or path of the process's driver library.  Loads the library if no call has yet.
///
/// # Errors
///
/// [`CudaError::Load`] when the library cannot be loaded.
pub fn library_name() -> CudaResult<&'static str> {
    let library = library::get().map_err(CudaError::Load)?;
    Ok(library.name.as_str())
}

/// Whether the process uses the simulated driver.  Loads the library if no call has yet.
///
/// # Errors
///
/// [`CudaError::Load`] when the library cannot be loaded.
pub fn is_simulated() -> CudaResult<bool> {
    let library = library::get().map_err(CudaError::Load)?;
    Ok(library.symbol(c"cuda_sim_call_count").is_some())
}
