//! Functions of the caller that run on streams.

use std::ffi::c_void;

use crate::base::code::{Code, INVALID_VALUE};
use crate::base::handles::Handle;
use crate::contexts::stack;
use crate::entry::call::in_callback;
use crate::entry::exported::exported;

type StreamCallback = extern "C" fn(stream: Handle, status: Code, data: *mut c_void);
type HostFunction = extern "C" fn(data: *mut c_void);

exported! { driver:
    /// Queues a call of `callback`, which receives the error of the stream's context.
    [5000, per_thread] call cuStreamAddCallback(
        stream: Handle,
        callback: Option<StreamCallback>,
        data: *mut c_void,
        flags: u32,
    ) {
        stack::current()?;
        let target = driver.stream(stream)?;
        let callback = callback.filter(|_| flags == 0).ok_or(INVALID_VALUE)?;
        let data = data.expose_provenance();
        let context = target.context;
        target.submit_always(move || {
            let data = std::ptr::with_exposed_provenance_mut(data);
            in_callback(|| callback(stream, context.error(), data));
            Ok(())
        })?;
    }

    /// Queues a call of `function`.
    [10000, per_thread] call cuLaunchHostFunc(
        stream: Handle,
        function: Option<HostFunction>,
        data: *mut c_void,
    ) {
        stack::current()?;
        let target = driver.stream(stream)?;
        let function = function.ok_or(INVALID_VALUE)?;
        let data = data.expose_provenance();
        target.submit(move || {
            let data = std::ptr::with_exposed_provenance_mut(data);
            in_callback(|| function(data));
            Ok(())
        })?;
    }
}
