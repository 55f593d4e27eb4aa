//! The calling thread's stack of contexts.

use crate::base::code::{Code, INVALID_CONTEXT};
use crate::base::handles::Handle;
use crate::contexts::context::Context;
use crate::contexts::stack;
use crate::driver::Driver;
use crate::entry::call::call;
use crate::entry::out::Out;

/// Makes a context current until it is popped.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxPushCurrent_v2(context: Handle) -> Code {
    call(|driver| {
        stack::push(driver.context(context)?);
        Ok(())
    })
}

/// Pops the current context and returns it.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxPopCurrent_v2(context: Out<Handle>) -> Code {
    call(|_| {
        let popped = stack::pop().ok_or(INVALID_CONTEXT)?;
        if let Some(context) = context.optional() {
            context.set(popped.handle());
        }
        Ok(())
    })
}

/// Returns the current context, or null.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxGetCurrent(context: Out<Handle>) -> Code {
    call(|_| {
        Driver::get()?;
        let current = stack::top().map_or(0, Context::handle);
        context.required()?.set(current);
        Ok(())
    })
}

/// Replaces the current context; null only pops it.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSetCurrent(context: Handle) -> Code {
    call(|driver| {
        let context = match context {
            0 => None,
            handle => Some(driver.context(handle)?),
        };
        stack::pop();
        context.into_iter().for_each(stack::push);
        Ok(())
    })
}
