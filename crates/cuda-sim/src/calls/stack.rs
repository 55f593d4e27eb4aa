//! The calling thread's stack of contexts.

use crate::border::Out;
use crate::code::{Code, INVALID_CONTEXT};
use crate::context::Context;
use crate::gate::call;
use crate::handles::Handle;
use crate::stack;

/// Makes a context current until it is popped.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxPushCurrent_v2(context: Handle) -> Code {
    call(|driver| {
        stack::push(driver.context(context)?);
        Ok(())
    })
}

/// Takes the current context off the stack and gives it.
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

/// Gives the current context, null when there is none.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxGetCurrent(context: Out<Handle>) -> Code {
    call(|_| {
        let current = stack::top().map_or(0, Context::handle);
        context.place()?.set(current);
        Ok(())
    })
}

/// Puts a context in place of the current one; null takes that off.
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
