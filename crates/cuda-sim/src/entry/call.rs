//! The wrapper of every exported function: refuses forked children and callbacks, counts the call,
//! and injects faults.

use std::any::type_name;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::fault;
use crate::base::code::{Code, NOT_INITIALIZED, NOT_PERMITTED, Result, SUCCESS, UNKNOWN};
use crate::base::fork::is_forked;
use crate::contexts::stack;
use crate::driver::Driver;
use crate::work::capture;

/// Calls that might wait for the device, which captures of streams forbid; so do queries and waits for
/// one stream or event.
const MAY_WAIT: [&str; 15] = [
    "cuMemAllocHost_v2",
    "cuMemAllocManaged",
    "cuMemAlloc_v2",
    "cuMemFreeHost",
    "cuMemFree_v2",
    "cuMemHostAlloc",
    "cuMemHostRegister_v2",
    "cuMemHostUnregister",
    "cuMemcpy",
    "cuMemcpyDtoD_v2",
    "cuMemcpyDtoH_v2",
    "cuMemcpyHtoD_v2",
    "cuMemcpyPeer",
    "cuMemsetD32_v2",
    "cuMemsetD8_v2",
];

/// Calls that stall while another thread's synchronous copy waits for work of the same context, as on an
/// H200; waits for streams and events stall nobody.
const STALLED_BY_COPIES: [&str; 6] = [
    "cuEventCreate",
    "cuEventRecord",
    "cuMemAlloc_v2",
    "cuMemHostAlloc",
    "cuMemcpyHtoDAsync_v2",
    "cuStreamCreate",
];

thread_local! {
    static IN_CALLBACK: Cell<bool> = const { Cell::new(false) };
}

/// Runs the body of an exported function that needs an initialised driver.
pub fn call<F>(body: F) -> Code
where
    F: FnOnce(&'static Driver) -> Result,
{
    enter(name_of::<F>(), || body(Driver::get()?))
}

/// Runs the body of an exported function that may be called before `cuInit`.
pub fn call_early<F: FnOnce() -> Result>(body: F) -> Code {
    enter(name_of::<F>(), body)
}

fn enter(name: &'static str, body: impl FnOnce() -> Result) -> Code {
    // Before any lock: in a forked child a lock may be held by a thread that is not there.
    if is_forked() {
        return NOT_INITIALIZED;
    }
    if IN_CALLBACK.get() {
        return NOT_PERMITTED;
    }
    if let Some(code) = fault::next_call(name) {
        return code;
    }
    if capture::is_under_way()
        && MAY_WAIT.contains(&name)
        && let Err(code) = capture::refuse_unsafe()
    {
        return code;
    }
    if STALLED_BY_COPIES.contains(&name)
        && let Ok(context) = stack::current()
    {
        context.await_copy();
    }
    // A panic must not cross into the C caller.
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => SUCCESS,
        Ok(Err(code)) => code,
        Err(_) => UNKNOWN,
    }
}

/// The name of the function in which the closure type `F` is written.
fn name_of<F>() -> &'static str {
    let path = type_name::<F>();
    let function = path.strip_suffix("::{{closure}}").unwrap_or(path);
    function.rsplit("::").next().unwrap_or(function)
}

/// Runs a caller's callback, which may not call the driver.
pub fn in_callback(callback: impl FnOnce()) {
    IN_CALLBACK.set(true);
    callback();
    IN_CALLBACK.set(false);
}

#[cfg(test)]
mod tests {
    use super::name_of;

    fn something_v2() -> &'static str {
        fn of<F: Fn()>(_: F) -> &'static str {
            name_of::<F>()
        }
        of(|| {})
    }

    #[test]
    fn a_closure_knows_its_function() {
        assert_eq!(something_v2(), "something_v2");
    }
}
