//! Names and texts of result codes.

use std::ffi::{CStr, c_char};
use std::ptr;

use crate::base::code::{Code, INVALID_VALUE, SUCCESS, describe};
use crate::entry::out::Out;

/// Returns the name of a code; null for an unknown one.
#[unsafe(no_mangle)]
pub extern "C" fn cuGetErrorName(code: Code, name: Out<*const c_char>) -> Code {
    text(code, name, |(name, _)| name)
}

/// Returns the text of a code; null for an unknown one.
#[unsafe(no_mangle)]
pub extern "C" fn cuGetErrorString(code: Code, string: Out<*const c_char>) -> Code {
    text(code, string, |(_, text)| text)
}

/// These bypass the wrapper of other calls, so that every error can be described.
fn text(
    code: Code,
    out: Out<*const c_char>,
    choose: impl Fn((&'static CStr, &'static CStr)) -> &'static CStr,
) -> Code {
    let Ok(out) = out.required() else {
        return INVALID_VALUE;
    };
    match describe(code) {
        Some(texts) => {
            out.set(choose(texts).as_ptr());
            SUCCESS
        }
        None => {
            out.set(ptr::null());
            INVALID_VALUE
        }
    }
}
