//! Python objects as arguments, borrowed while the caller holds the GIL.

use std::marker::PhantomData;
use std::ptr::NonNull;

/// CPython's object, which is opaque to both sides of the border.
pub struct PyObject {
    _opaque: [u8; 0],
}

/// A `PyObject*`.
pub type Object = *mut PyObject;

/// A Python object that is live, on a thread that holds the GIL, for as long as the lifetime.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct ObjectRef<'a> {
    object: NonNull<PyObject>,
    held: PhantomData<&'a ()>,
}

impl ObjectRef<'_> {
    /// # Safety
    ///
    /// The object must be live, and this thread must hold the GIL, for the lifetime.
    pub unsafe fn new(object: Object) -> Self {
        // SAFETY: no live object is at null.
        Self { object: unsafe { NonNull::new_unchecked(object) }, held: PhantomData }
    }
}

/// Where a copy goes: the memory of a `pyarrow.Device` or `pyarrow.MemoryManager`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Destination<'a> {
    object: ObjectRef<'a>,
    is_device: bool,
}

impl<'a> Destination<'a> {
    /// # Safety
    ///
    /// The object must be a `pyarrow.Device` if it `is_device`, else a `pyarrow.MemoryManager`.
    pub unsafe fn new(object: ObjectRef<'a>, is_device: bool) -> Self {
        Self { object, is_device }
    }
}
