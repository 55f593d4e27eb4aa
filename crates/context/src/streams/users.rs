//! The one wait before memory of any kind goes back to the driver.
//!
//! The driver does not wait for all work that may use the memory (seen on two H200s).  When it frees large
//! device memory, it waits for that device only.  When it frees or unpins host memory, it waits for that
//! memory's context only.  Other work would fault, or read the memory's next contents.  This wait covers it.

use crate::{Context, Device, Unused, contexts};
use arrow_cuda_driver::{CudaResult, codes};

impl Context {
    /// Blocks until all work of the process that may use memory of this context is complete.  That is the work of every
    /// primary context, and of each other context that this process was shown.  It may be called for a context that is
    /// gone.
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    ///
    /// let context = Context::primary(0)?;
    /// let current = context.enter()?;
    /// let address = current.allocate_memory(100)?;
    /// let unused = context.await_users()?;
    /// // SAFETY: allocated above, and released once.
    /// unsafe { current.release_memory(address, &unused) }?;
    /// # Ok::<(), arrow_cuda_driver::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors, which prove nothing: the memory has to stay.
    #[doc(hidden)]
    pub fn await_users(&self) -> CudaResult<Unused> {
        await_users_in(contexts_of_the_process(Some(self))?)
    }

    /// As [`await_users`](Self::await_users), except for the work of this context, for which the driver itself waits at
    /// the release: a wait here would end its graph captures.  For other contexts of the device, the driver waits only
    /// before it frees large memory (seen on an H200).
    pub(crate) fn await_other_users(&self) -> CudaResult<Unused> {
        let mut others = contexts_of_the_process(Some(self))?;
        others.retain(|context| !context.is_same(self));
        await_users_in(others)
    }
}

/// As [`Context::await_users`], for memory of a context that is gone.
pub(crate) fn await_users_of_lost() -> CudaResult<Unused> {
    await_users_in(contexts_of_the_process(None)?)
}

/// As [`Context::await_users`], except for the work of the device's primary context, for which a reset waits itself.
/// A signal may end the wait.
pub(super) fn await_other_users_of(device: Device) -> CudaResult<Unused> {
    let mut others = contexts_of_the_process(None)?;
    others.retain(|context| !context.is_primary() || context.device() != device);
    await_users_by(Context::synchronize, others)
}

fn await_users_in(contexts: Vec<Context>) -> CudaResult<Unused> {
    await_users_by(|context| context.enter()?.synchronize(), contexts)
}

fn await_users_by(
    wait: impl Fn(&Context) -> CudaResult<()>,
    contexts: Vec<Context>,
) -> CudaResult<Unused> {
    for context in contexts {
        match wait(&context) {
            // The work of a context that is gone has gone with it, and one with a fault executes nothing any more.
            Err(error) if !context.is_gone(&error) && !is_fatal(error.code()) => return Err(error),
            _ => {}
        }
    }
    Ok(Unused::after_waits())
}

fn is_fatal(code: Option<i32>) -> bool {
    code.is_some_and(|code| codes::FATAL.contains(&code))
}

/// All contexts whose work may use the memory.  These are the primary ones that exist, whichever library made them, and
/// living ones of other libraries that this process was shown.
pub(super) fn contexts_of_the_process(known: Option<&Context>) -> CudaResult<Vec<Context>> {
    for number in 0..Device::count()? {
        let device = Device::get(number)?;
        let is_known = known.is_some_and(|it| it.is_primary() && it.device() == device);
        if !is_known && device.has_primary_context()? {
            // Another library's is retained from now on, as every primary context is.
            Context::primary(number)?;
        }
    }
    let mut contexts = contexts::all();
    contexts.retain(|context| known.is_some_and(|it| it.is_same(context)) || context.is_alive());
    Ok(contexts)
}
