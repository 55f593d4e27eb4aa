//! Places where a C caller wants an answer.

use std::marker::PhantomData;
use std::ptr::NonNull;

use crate::code::{Code, INVALID_VALUE};

/// A parameter of a C function through which it gives a `T` back; may be null.
#[repr(transparent)]
pub struct Out<T: Copy>(*mut T);

/// A place that is not null.
pub struct Place<T: Copy>(NonNull<T>, PhantomData<T>);

impl<T: Copy> Out<T> {
    /// # Errors
    /// `INVALID_VALUE` when the caller gave null.
    pub fn place(self) -> Result<Place<T>, Code> {
        self.optional().ok_or(INVALID_VALUE)
    }

    /// The place, where the interface allows null for "not wanted".
    pub fn optional(self) -> Option<Place<T>> {
        NonNull::new(self.0).map(|at| Place(at, PhantomData))
    }
}

impl<T: Copy> Place<T> {
    pub fn set(&self, value: T) {
        // SAFETY: the interface obliges the caller to give null or a place that holds a `T`,
        // for the length of the call; alignment is not relied upon.
        unsafe { self.0.as_ptr().write_unaligned(value) }
    }
}
