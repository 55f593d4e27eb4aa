//! Parameters through which a C caller receives results.

use std::ptr::NonNull;

use crate::base::code::{INVALID_VALUE, Result};

/// A pointer to which a C function writes a `T`; may be null.
#[repr(transparent)]
pub struct Out<T: Copy>(*mut T);

pub struct Target<T: Copy>(NonNull<T>);

impl<T: Copy> Out<T> {
    pub fn required(self) -> Result<Target<T>> {
        NonNull::new(self.0).map(Target).ok_or(INVALID_VALUE)
    }

    /// Sets a parameter that the interface lets the caller leave out by null.
    pub fn set_if_wanted(self, value: T) {
        if let Ok(target) = self.required() {
            target.set(value);
        }
    }
}

impl<T: Copy> Target<T> {
    pub fn set(&self, value: T) {
        // SAFETY: the interface obliges the caller to pass null or the address of a `T` that
        // lives through the call; it need not be aligned.
        unsafe { self.0.as_ptr().write_unaligned(value) }
    }
}
