//! Functions of the caller that run on streams.

use std::ffi::c_void;

use crate::base::code::{Code, INVALID_VALUE};
use crate::base::handles::Handle;
use crate::contexts::stack;
use crate::entry::call::{call, in_callback};

type StreamCallback = extern "C" fn(stream: Handle, status: Code, data: *mut c_void);
type HostFunction = extern "C" fn(data: *mut c_void);

/// Queues a call of `callback`, which receives the error of the stream's context.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamAddCallback(
    stream: Handle,
    callback: Option<StreamCallback>,
    data: *mut c_void,
    flags: u32,
) -> Code {
    call(|driver| {
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
        Ok(())
    })
}

/// Queues a call of `function`.
#[unsafe(no_mangle)]
pub extern "C" fn cuLaunchHostFunc(
    stream: Handle,
    function: Option<HostFunction>,
    data: *mut c_void,
) -> Code {
    call(|driver| {
        stack::current()?;
        let target = driver.stream(stream)?;
        let function = function.ok_or(INVALID_VALUE)?;
        let data = data.expose_provenance();
        target.submit(move || {
            let data = std::ptr::with_exposed_provenance_mut(data);
            in_callback(|| function(data));
            Ok(())
        })?;
        Ok(())
    })
}
