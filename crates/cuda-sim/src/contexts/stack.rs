//! Each thread's stack of contexts; the top is the current one.

use std::cell::RefCell;
use std::mem::ManuallyDrop;

use super::Context;
use crate::base::code::{INVALID_CONTEXT, Result};

thread_local! {
    // Not dropped, because calls that come while the thread or the process ends still use it.
    static STACK: ManuallyDrop<RefCell<Vec<&'static Context>>> =
        const { ManuallyDrop::new(RefCell::new(Vec::new())) };
}

/// The current context, destroyed or not.  It is known by its handle, which a later primary context has, too.
pub fn top() -> Option<&'static Context> {
    STACK.with(|stack| {
        let mut stack = stack.borrow_mut();
        let top = stack.last_mut()?;
        while let Some(next) = top.successor.get() {
            *top = next;
        }
        Some(*top)
    })
}

pub fn current() -> Result<&'static Context> {
    let context = top().ok_or(INVALID_CONTEXT)?;
    context.check()?;
    Ok(context)
}

/// Waits for the synchronous copy that another thread makes in the current context.
pub fn await_copy() {
    if let Ok(context) = current() {
        context.await_copy();
    }
}

/// Checks the current context for a call that works without one too.
pub fn check_top() -> Result {
    top().map_or(Ok(()), Context::check)
}

pub fn push(context: &'static Context) {
    STACK.with(|stack| stack.borrow_mut().push(context));
}

pub fn pop() -> Option<&'static Context> {
    STACK.with(|stack| stack.borrow_mut().pop())
}
