//! Modules that every other one may use: result codes, handles, and the operating system.

pub mod code;
pub mod fork;
pub mod handles;
pub mod lock;
pub mod mapping;
