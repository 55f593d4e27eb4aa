//! Names and texts of result codes.

use std::ffi::{CStr, c_char};
use std::ptr;

use crate::border::Out;
use crate::code::{Code, INVALID_VALUE, SUCCESS, describe};

/// Gives the name of a code; null for one that has none.
#[unsafe(no_mangle)]
pub extern "C" fn cuGetErrorName(code: Code, name: Out<*const c_char>) -> Code {
    text(code, name, |(name, _)| name)
}

/// Gives the text of a code; null for one that has none.
#[unsafe(no_mangle)]
pub extern "C" fn cuGetErrorString(code: Code, string: Out<*const c_char>) -> Code {
    text(code, string, |(_, text)| text)
}

/// Past the gate: these answer always, so that any failure can be told.
fn text(
    code: Code,
    out: Out<*const c_char>,
    choose: impl Fn((&'static CStr, &'static CStr)) -> &'static CStr,
) -> Code {
    let Ok(out) = out.place() else {
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
