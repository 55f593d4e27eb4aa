//! One device: its contexts.

use std::sync::{Mutex, OnceLock};

use crate::base::{Handle, lock};
use crate::contexts::Context;

#[derive(Default)]
pub struct Device {
    pub primary: Mutex<Primary>,
    /// All primary contexts of a device have one handle, one after the other.
    pub primary_handle: OnceLock<Handle>,
    /// Handles of other contexts that were destroyed, for the next ones: the last one first.
    pub free_handles: Mutex<Vec<Handle>>,
    /// Contexts that were not destroyed.
    pub contexts: Mutex<Vec<&'static Context>>,
}

#[derive(Default)]
pub struct Primary {
    pub context: Option<&'static Context>,
    pub retains: i32,
    pub flags: u32,
}

impl Device {
    pub fn synchronize(&self) {
        let contexts = lock(&self.contexts).clone();
        for context in contexts {
            context.synchronize();
        }
    }
}
