//! The calling thread's stack of contexts.

use crate::base::code::INVALID_CONTEXT;
use crate::base::handles::Handle;
use crate::contexts::context::Context;
use crate::contexts::stack;
use crate::entry::exported::exported;
use crate::entry::out::Out;

exported! { driver:
    /// Makes a context current until it is popped.
    [4000] call cuCtxPushCurrent_v2(context: Handle) {
        stack::push(driver.context(context)?);
    }

    /// Pops the current context and returns it.
    [4000] call cuCtxPopCurrent_v2(context: Out<Handle>) {
        let popped = stack::pop().ok_or(INVALID_CONTEXT)?;
        context.set_if_wanted(popped.handle());
    }

    /// Returns the current context, or null.
    [4000] call cuCtxGetCurrent(context: Out<Handle>) {
        let current = stack::top().map_or(0, Context::handle);
        context.required()?.set(current);
    }

    /// Replaces the current context; null only pops it.
    [4000] call cuCtxSetCurrent(context: Handle) {
        let context = match context {
            0 => None,
            handle => Some(driver.context(handle)?),
        };
        stack::pop();
        context.into_iter().for_each(stack::push);
    }
}
