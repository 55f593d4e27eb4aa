//! The C Device interface, as its specification has it.

use std::ffi::{c_char, c_void};

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Array {
    pub length: i64,
    pub null_count: i64,
    pub offset: i64,
    pub n_buffers: i64,
    pub n_children: i64,
    pub buffers: *mut *const c_void,
    pub children: *mut *mut Array,
    pub dictionary: *mut Array,
    pub release: Option<unsafe extern "C" fn(*mut Array)>,
    pub private_data: *mut c_void,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct DeviceArray {
    pub array: Array,
    pub device_id: i64,
    pub device_type: i32,
    pub sync_event: *mut c_void,
    pub reserved: [i64; 3],
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Schema {
    pub format: *const c_char,
    pub name: *const c_char,
    pub metadata: *const c_char,
    pub flags: i64,
    pub n_children: i64,
    pub children: *mut *mut Schema,
    pub dictionary: *mut Schema,
    pub release: Option<unsafe extern "C" fn(*mut Schema)>,
    pub private_data: *mut c_void,
}

/// A structure without content, which a producer fills.
macro_rules! empty {
    ($($name:ty),*) => {
        $(impl Default for $name {
            fn default() -> Self {
                // SAFETY: numbers, and pointers and functions that may be null.
                unsafe { std::mem::zeroed() }
            }
        })*
    };
}
empty!(DeviceArray, Schema);

impl DeviceArray {
    /// As a consumer releases it, if it is not released yet.
    pub fn release(&mut self) {
        if let Some(release) = self.array.release {
            // SAFETY: the producer's own function.
            unsafe { release(&raw mut self.array) };
        }
    }
}

impl Schema {
    /// As a consumer releases it, if it is not released yet.
    pub fn release(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: the producer's own function.
            unsafe { release(self) };
        }
    }
}
