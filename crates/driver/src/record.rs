//! The last failure of a call that `cust` made on this thread.

use std::cell::Cell;

thread_local! {
    static LAST: Cell<Option<(&'static str, i32)>> = const { Cell::new(None) };
}

pub(crate) fn remember(function: &'static str, code: i32) {
    LAST.set(Some((function, code)));
}

pub(crate) fn take() -> Option<(&'static str, i32)> {
    LAST.take()
}
