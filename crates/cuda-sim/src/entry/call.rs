//! The wrappers of exported functions: they refuse forked children and callbacks, count the call, and
//! inject faults.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::fault;
use crate::base::code::{Code, NOT_INITIALIZED, NOT_PERMITTED, Result, SUCCESS, UNKNOWN};
use crate::base::is_forked;
use crate::driver::Driver;

thread_local! {
    static IN_CALLBACK: Cell<bool> = const { Cell::new(false) };
}

/// Runs the body of an exported function that needs an initialised driver.
pub fn call(name: &'static str, body: impl FnOnce(&'static Driver) -> Result) -> Code {
    early(name, |()| body(Driver::get()?))
}

/// Runs the body of an exported function that may be called before `cuInit`.
pub fn early(name: &'static str, body: impl FnOnce(()) -> Result) -> Code {
    // Before any lock: in a forked child a lock may be held by a thread that is not there.
    if is_forked() {
        return NOT_INITIALIZED;
    }
    if IN_CALLBACK.get() {
        return NOT_PERMITTED;
    }
    match fault::next_call(name) {
        Some(code) => code,
        None => uncounted(name, body),
    }
}

/// Runs the body of `cuInit`, whose first call reads the rules in the environment: so early that they may
/// make it fail.
pub fn initialising(name: &'static str, body: impl FnOnce(()) -> Result) -> Code {
    if !is_forked()
        && let Err(code) = fault::load_environment()
    {
        return code;
    }
    early(name, body)
}

/// Runs the body of an exported function that describes errors, and so succeeds whatever has happened.
pub fn uncounted(_name: &'static str, body: impl FnOnce(()) -> Result) -> Code {
    // A panic must not cross into the C caller.
    match catch_unwind(AssertUnwindSafe(|| body(()))) {
        Ok(Ok(())) => SUCCESS,
        Ok(Err(code)) => code,
        Err(_) => UNKNOWN,
    }
}

/// Runs a caller's callback, which may not call the driver.
pub fn in_callback(callback: impl FnOnce()) {
    IN_CALLBACK.set(true);
    callback();
    IN_CALLBACK.set(false);
}
