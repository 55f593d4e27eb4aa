//! One device: its contexts.

use std::sync::{Mutex, OnceLock};

use crate::base::{Handle, lock};
use crate::contexts::Context;

#[derive(Default)]
pub struct Device {
    pub primary: Mutex<Primary>,
    /// All primary contexts of a device have one handle, one after the other.
    primary_handle: OnceLock<Handle>,
    /// Contexts that were not destroyed.
    contexts: Mutex<Vec<&'static Context>>,
}

#[derive(Default)]
pub struct Primary {
    pub context: Option<&'static Context>,
    pub retains: i32,
    pub flags: u32,
}

impl Device {
    pub fn adopt(&self, context: &'static Context) {
        if context.is_primary {
            context.inherit(*self.primary_handle.get_or_init(|| context.handle()));
        }
        lock(&self.contexts).push(context);
    }

    pub fn disown(&self, context: &Context) {
        lock(&self.contexts).retain(|other| other.id != context.id);
    }

    pub fn synchronize(&self) {
        let contexts = lock(&self.contexts).clone();
        for context in contexts {
            context.synchronize();
        }
    }
}
