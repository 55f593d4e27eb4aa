//! Each thread's stack of contexts; the top is the current one.

use std::cell::RefCell;
use std::mem::ManuallyDrop;

use crate::code::{Code, INVALID_CONTEXT};
use crate::context::Context;

thread_local! {
    // Not dropped: calls that come while the thread or the process ends still find it.
    static STACK: ManuallyDrop<RefCell<Vec<&'static Context>>> =
        const { ManuallyDrop::new(RefCell::new(Vec::new())) };
}

/// The current context, destroyed or not.
pub fn top() -> Option<&'static Context> {
    STACK.with(|stack| stack.borrow().last().copied())
}

/// The current context.
///
/// # Errors
/// `INVALID_CONTEXT` when there is none; what [`Context::healthy`] says.
pub fn current() -> Result<&'static Context, Code> {
    let context = top().ok_or(INVALID_CONTEXT)?;
    context.healthy()?;
    Ok(context)
}

pub fn push(context: &'static Context) {
    STACK.with(|stack| stack.borrow_mut().push(context));
}

pub fn pop() -> Option<&'static Context> {
    STACK.with(|stack| stack.borrow_mut().pop())
}
