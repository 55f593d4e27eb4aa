//! Functions of the caller that streams call.

use std::ffi::c_void;

use crate::code::{Code, INVALID_VALUE};
use crate::gate::{call, in_callback};
use crate::handles::Handle;
use crate::stack;

type StreamCallback = extern "C" fn(stream: Handle, status: Code, data: *mut c_void);
type HostFunction = extern "C" fn(data: *mut c_void);

/// Calls `callback` in turn of a stream, with the error of the context if it has one.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamAddCallback(
    stream: Handle,
    callback: Option<StreamCallback>,
    data: *mut c_void,
    flags: u32,
) -> Code {
    call(|driver| {
        stack::current()?;
        let queue = driver.stream(stream)?;
        let callback = callback.filter(|_| flags == 0).ok_or(INVALID_VALUE)?;
        let data = data.expose_provenance();
        let context = queue.context;
        queue.submit_always(move || {
            let data = std::ptr::with_exposed_provenance_mut(data);
            in_callback(|| callback(stream, context.error(), data));
            Ok(())
        })?;
        Ok(())
    })
}

/// Calls `function` in turn of a stream.
#[unsafe(no_mangle)]
pub extern "C" fn cuLaunchHostFunc(
    stream: Handle,
    function: Option<HostFunction>,
    data: *mut c_void,
) -> Code {
    call(|driver| {
        stack::current()?;
        let queue = driver.stream(stream)?;
        let function = function.ok_or(INVALID_VALUE)?;
        let data = data.expose_provenance();
        queue.submit(move || {
            let data = std::ptr::with_exposed_provenance_mut(data);
            in_callback(|| function(data));
            Ok(())
        })?;
        Ok(())
    })
}
