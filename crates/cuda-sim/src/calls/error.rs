//! Names and texts of result codes.

use std::ffi::c_char;
use std::ptr;

use crate::base::code::{Code, INVALID_VALUE, Result, describe};
use crate::entry::{Out, exported};

exported! { driver:
    /// Returns the name of a code; null for an unknown one.
    [6000] uncounted cuGetErrorName(code: Code, name: Out<*const c_char>) {
        answer(name, describe(code).map(|(name, _)| name))?;
    }

    /// Returns the text of a code; null for an unknown one.
    [6000] uncounted cuGetErrorString(code: Code, string: Out<*const c_char>) {
        answer(string, describe(code).map(|(_, text)| text))?;
    }
}

fn answer(out: Out<*const c_char>, text: Option<&'static str>) -> Result {
    out.required()?.set(text.map_or(ptr::null(), |text| text.as_ptr().cast()));
    text.map(drop).ok_or(INVALID_VALUE)
}
